#pragma once

#include <bzlib.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What all programs that decompress have in common: how a .bz2 file falls into blocks, and the
/// work of one. So any .bz2 file is decompressed by many, also one of a single stream.
namespace apps {

/// Reads a .bz2 file block by block. A block begins at any bit, and its end is where the next one
/// or the end of the stream is marked. What bunzip2 would refuse throws std::runtime_error, here or
/// in `decompress`.
class PackedBlocks {
 public:
  /// Where the next block begins, and what the blocks of its stream before it sum up to.
  struct Place {
    std::uint64_t bit = 0;
    std::uint32_t sum = 0;
    bool in_stream = false;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(bit, sum, in_stream);
    }
  };

  explicit PackedBlocks(const std::string& path) : PackedBlocks(path, Place()) {}
  PackedBlocks(const std::string& path, const Place& place)
      : path_(path), file_(path, std::ios::binary), place_(place) {
    if (!file_) fail("cannot be read");
    first_ = place.bit / 8;
    file_.seekg(static_cast<std::streamoff>(first_));
  }

  /// Appends the next block to `out`, as a bzip2 stream of its own; false at the end of the file.
  template <class Bytes>
  bool next(Bytes& out) {
    drop_what_was_read();
    while (true) {
      if (!place_.in_stream && !begin_stream()) return false;
      const std::uint64_t mark = bits(place_.bit, 48);
      const auto sum = static_cast<std::uint32_t>(bits(place_.bit + 48, 32));
      if (mark == end_mark) {
        if (sum != place_.sum) fail("has lost a block: the checksum of a stream is another one");
        place_ = {.bit = (place_.bit + mark_bits + 7) / 8 * 8};
      } else if (mark == block_mark) {
        const std::uint64_t end = end_of_block();
        append_stream(place_.bit, end, sum, out);
        place_.bit = end;
        place_.sum = ((place_.sum << 1) | (place_.sum >> 31)) ^ sum;
        return true;
      } else {
        fail("is damaged at byte " + std::to_string(place_.bit / 8));
      }
    }
  }

  const Place& place() const { return place_; }

  /// A block has at most 900,001 symbols of at most 20 bits, and its tables.
  static constexpr std::size_t block_bytes_max = 2'400'000;

 private:
  static constexpr std::uint64_t block_mark = 0x314159265359, end_mark = 0x177245385090;
  /// With the checksum behind it.
  static constexpr std::uint64_t mark_bits = 80;

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error("'" + path_ + "' " + what);
  }

  void drop_what_was_read() {
    const std::uint64_t keep = std::min<std::uint64_t>(place_.bit / 8 - first_, bytes_.size());
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(keep));
    first_ += keep;
  }

  /// Whether the file has a byte there; it is in `bytes_` then.
  bool has(std::uint64_t byte) {
    while (byte - first_ >= bytes_.size()) {
      const std::size_t before = bytes_.size();
      bytes_.resize(before + 65'536);
      file_.read(reinterpret_cast<char*>(bytes_.data()) + before, 65'536);
      if (file_.bad()) fail("cannot be read");
      bytes_.resize(before + static_cast<std::size_t>(file_.gcount()));
      if (bytes_.size() == before) return false;
    }
    return true;
  }
  std::uint8_t at(std::uint64_t byte) const { return bytes_[byte - first_]; }

  /// At most 48.
  std::uint64_t bits(std::uint64_t from, unsigned count) {
    const std::uint64_t last = (from + count - 1) / 8;
    if (!has(last)) fail("ends in the middle of a stream");
    std::uint64_t value = 0;
    for (std::uint64_t byte = from / 8; byte <= last; ++byte) value = value << 8 | at(byte);
    return value >> ((last + 1) * 8 - from - count) & ((std::uint64_t{1} << count) - 1);
  }

  bool begin_stream() {
    if (place_.bit != 0 && !has(place_.bit / 8)) return false;
    const std::uint64_t head = has(place_.bit / 8) ? bits(place_.bit, 32) : 0;
    if (head >> 8 != 0x425a68 || (head & 0xff) < '1' || (head & 0xff) > '9') {
      fail("has no bzip2 stream at byte " + std::to_string(place_.bit / 8));
    }
    place_ = {.bit = place_.bit + 32, .in_stream = true};
    return true;
  }

  /// The bit of the next mark behind the one at `place_`.
  std::uint64_t end_of_block() {
    const std::uint64_t from = place_.bit + mark_bits;
    std::uint64_t window = 0;
    for (std::uint64_t byte = from / 8; has(byte); ++byte) {
      window = window << 8 | at(byte);
      for (unsigned right = 8; right-- > 0;) {
        const std::uint64_t mark = window >> right & 0xffff'ffff'ffff;
        if (mark != block_mark && mark != end_mark) continue;
        const std::uint64_t end = (byte + 1) * 8 - right - 48;
        if (end >= from) return end;
      }
      if (byte - place_.bit / 8 > block_bytes_max - 64) fail("has a block that does not end");
    }
    fail("ends in the middle of a block");
  }

  template <class Bytes>
  void append_stream(std::uint64_t from, std::uint64_t end, std::uint32_t sum, Bytes& out) const {
    for (const char c : {'B', 'Z', 'h', '9'}) out.push_back(c);
    const unsigned shift = from % 8;
    std::uint64_t bit = from;
    for (; bit + 8 <= end; bit += 8) {
      const unsigned two = unsigned{at(bit / 8)} << 8 | (shift == 0 ? 0u : at(bit / 8 + 1));
      out.push_back(static_cast<char>(two >> (8 - shift)));
    }
    unsigned held = 0, held_bits = 0;
    const auto put = [&](std::uint64_t value, unsigned count) {
      while (count-- > 0) {
        held = held << 1 | static_cast<unsigned>(value >> count & 1);
        if (++held_bits < 8) continue;
        out.push_back(static_cast<char>(held));
        held = held_bits = 0;
      }
    };
    for (; bit < end; ++bit) put(at(bit / 8) >> (7 - bit % 8), 1);
    put(end_mark, 48);
    put(sum, 32);
    while (held_bits != 0) put(0, 1);
  }

  std::string path_;
  std::ifstream file_;
  Place place_;
  /// What was read of the file and is still wanted: from byte `first_` on.
  std::vector<std::uint8_t> bytes_;
  std::uint64_t first_ = 0;
};

/// Appends to `out` what a bzip2 stream holds: a block of bzip2's own makes at most 46 MB.
template <class Bytes>
void decompress(std::string_view packed, Bytes& out) {
  bz_stream stream{};
  if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK) throw std::bad_alloc();
  stream.next_in = const_cast<char*>(packed.data());  // It only reads.
  stream.avail_in = static_cast<unsigned>(packed.size());
  std::size_t filled = out.size();
  int code = BZ_OK;
  while (code == BZ_OK) {
    if (filled == out.size()) out.resize(filled + std::max<std::size_t>(filled, 1'000'000));
    stream.next_out = out.data() + filled;
    stream.avail_out = static_cast<unsigned>(out.size() - filled);
    code = BZ2_bzDecompress(&stream);
    if (code == BZ_OK && stream.avail_in == 0 && stream.avail_out != 0) code = BZ_UNEXPECTED_EOF;
    filled = out.size() - stream.avail_out;
  }
  BZ2_bzDecompressEnd(&stream);
  if (code != BZ_STREAM_END) {
    throw std::runtime_error("a block is damaged: bzip2 has code " + std::to_string(code));
  }
  out.resize(filled);
}

}  // namespace apps
