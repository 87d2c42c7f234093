#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace piracema::net {

/// How records are sealed; the numbers travel (docs/formats/frame.md).
enum class Cipher : std::uint8_t { none = 0, chacha20_poly1305 = 1, aes256_gcm = 2 };
/// Those that this machine has, a bit each (1 << number). AES wants instructions of the processor.
std::uint8_t ciphers_here();
/// The fastest of these, or none.
Cipher best_of(std::uint8_t ciphers);

using SealKey = std::array<std::byte, 32>;
/// Of one end of a connection.
struct SealKeys {
  Cipher cipher = Cipher::none;
  SealKey out{}, in{};
};

/// A record: 4 bytes length of what is in it, that sealed, a tag of 16 bytes.
constexpr std::size_t record_payload_max = std::size_t{64} << 10;
constexpr std::size_t record_header_bytes = 4, record_tag_bytes = 16;
/// After so many the next key takes the place of the last one, at both ends: well before what
/// AES-GCM may seal with one.
constexpr std::uint64_t records_per_key = std::uint64_t{1} << 20;

/// Seals and opens the records of one direction, in their order: the number of a record is its
/// nonce, its length is authenticated with it. Pure.
class RecordCipher {
 public:
  RecordCipher(Cipher cipher, const SealKey& key);
  ~RecordCipher();
  RecordCipher(const RecordCipher&) = delete;
  RecordCipher& operator=(const RecordCipher&) = delete;

  /// `from` and `to` are the same place, or do not overlap.
  void seal(Bytes from, std::byte* to, std::byte* tag);
  /// False if this is not the next record as it was sealed; there is no going on after that.
  bool open(Bytes from, std::byte* to, const std::byte* tag);

  /// Of the next record.
  std::uint64_t number() const { return number_; }

 private:
  void use(const SealKey& key);
  void next();

  struct AesKey;

  SealKey key_;
  /// Of AES, which prepares its key; null for ChaCha20.
  std::unique_ptr<AesKey> aes_;
  std::uint64_t number_ = 0;
};

/// Cuts bytes into sealed records. Pure.
class RecordWriter {
 public:
  RecordWriter(Cipher cipher, const SealKey& key) : cipher_(cipher, key) {}

  /// Seals the bytes of all these parts behind `out`. Small parts share records; a large one is
  /// sealed from where it lies.
  void seal(std::span<const iovec> parts, Buffer& out);

 private:
  void seal_together(std::span<const iovec> parts, std::size_t bytes, Buffer& out);
  void seal_alone(Bytes part, Buffer& out);

  RecordCipher cipher_;
};

/// Makes bytes of sealed records, whatever way they come in pieces. Its memory is bounded by two
/// records. Pure.
class RecordReader {
 public:
  RecordReader(Cipher cipher, const SealKey& key) : cipher_(cipher, key) {}

  /// Where the next bytes go; never empty. Call it after `open` has said that there is nothing.
  iovec room();
  /// `count` bytes were put there.
  void filled(std::size_t count);

  /// Puts what was in the records that have come to these places, one after the other; how many
  /// bytes, 0 while no record is there as a whole. Errc::corrupt for one that is not the next one
  /// as it was sealed: changed, left out, repeated, of another connection. There is no going on
  /// after that.
  Result<std::size_t> open(std::span<const iovec> places);

  /// The stream may end here.
  bool between_records() const { return begin_ == end_ && opened_.empty(); }

 private:
  RecordCipher cipher_;
  Buffer buffer_;
  /// What of `buffer_` is not read yet.
  std::size_t begin_ = 0, end_ = 0;
  /// What was opened in its place in `buffer_`, and is not taken yet.
  Bytes opened_;
};

}  // namespace piracema::net
