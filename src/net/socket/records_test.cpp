#include "net/socket/records.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"

using namespace piracema;
using namespace piracema::net;

namespace {

constexpr SealKey key{std::byte{1}, std::byte{2}}, other_key{std::byte{3}};

std::vector<Cipher> ciphers() {
  std::vector<Cipher> found;
  for (const Cipher cipher : {Cipher::chacha20_poly1305, Cipher::aes256_gcm}) {
    if ((ciphers_here() >> static_cast<unsigned>(cipher) & 1U) != 0) found.push_back(cipher);
  }
  return found;
}

std::string text_of(std::size_t bytes, Random& random) {
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>('a' + random.below(26));
  return text;
}

iovec part_of(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

/// One record, or as many as these bytes want.
std::string sealed(RecordWriter& writer, std::string_view text) {
  Buffer out;
  const iovec part = part_of(text);
  writer.seal({&part, 1}, out);
  return std::string(as_text(out));
}

/// What comes out if the bytes come in pieces, and are taken to places of any size; none if they
/// are refused.
std::optional<std::string> opened(RecordReader& reader, std::string_view bytes, Random& random,
                                  std::size_t piece_max = 40'000) {
  std::string text;
  while (!bytes.empty()) {
    const iovec room = reader.room();
    const std::size_t count = std::min(
        {bytes.size(), room.iov_len, static_cast<std::size_t>(1 + random.below(piece_max))});
    std::memcpy(room.iov_base, bytes.data(), count);
    reader.filled(count);
    bytes.remove_prefix(count);
    while (true) {
      std::string direct(random.below(80'000), '\0'), spare(1 + random.below(20'000), '\0');
      const iovec places[] = {{direct.data(), direct.size()}, {spare.data(), spare.size()}};
      const auto got = reader.open(places);
      if (!got) {
        CHECK(got.error().code == Errc::corrupt);
        return std::nullopt;
      }
      if (*got == 0) break;
      const std::size_t first = std::min(*got, direct.size());
      text += direct.substr(0, first) + spare.substr(0, *got - first);
    }
  }
  return text;
}

std::string reason(Cipher cipher, std::string_view bytes) {
  RecordReader reader(cipher, key);
  const iovec room = reader.room();
  std::memcpy(room.iov_base, bytes.data(), bytes.size());
  reader.filled(bytes.size());
  std::string text(1'000, '\0');
  const iovec place{text.data(), text.size()};
  while (true) {
    const auto got = reader.open({&place, 1});
    if (!got) return got.error().message;
    if (*got == 0) return "";
  }
}

}  // namespace

TEST_CASE("what was sealed is opened as it was, however it was cut and comes") {
  for (const Cipher cipher : ciphers()) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      CAPTURE(seed);
      Random random(seed);
      RecordWriter writer(cipher, key);
      RecordReader reader(cipher, key);
      for (int turn = 0; turn < 3; ++turn) {
        std::vector<std::string> texts;
        std::vector<iovec> parts;
        std::string all;
        for (std::uint64_t i = random.below(12); i > 0; --i) {
          const std::size_t sizes[] = {0, 1, 40, 500, 8'000, 9'000, 65'536, 65'537, 200'000};
          texts.push_back(text_of(sizes[random.below(9)], random));
          all += texts.back();
        }
        for (const std::string& text : texts) parts.push_back(part_of(text));
        Buffer out;
        writer.seal(parts, out);
        const auto got = opened(reader, as_text(out), random, seed % 2 == 0 ? 100 : 40'000);
        REQUIRE(got.has_value());
        CHECK((*got == all));
        CHECK(reader.between_records());
      }
    }
  }
}

TEST_CASE("nothing of a text is in what is sealed, and the same text is never sealed the same") {
  const std::string text(1'000, 'x');
  for (const Cipher cipher : ciphers()) {
    RecordWriter writer(cipher, key);
    const std::string one = sealed(writer, text), two = sealed(writer, text);
    CHECK(one.size() == record_header_bytes + text.size() + record_tag_bytes);
    CHECK((one != two));
    CHECK(one.find("xxxx") == one.npos);
  }
}

TEST_CASE("a record that was changed anywhere is not opened") {
  for (const Cipher cipher : ciphers()) {
    RecordWriter writer(cipher, key);
    const std::string right = sealed(writer, "some text");
    CHECK(reason(cipher, right) == "");
    for (std::size_t at = record_header_bytes; at < right.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string wrong = right;
        wrong[at] = static_cast<char>(wrong[at] ^ (1 << bit));
        CHECK(reason(cipher, wrong) == "record 0: it is not what was sealed, or not the next one");
      }
    }
  }
}

TEST_CASE("a length that was changed is refused, or found wrong by the tag") {
  for (const Cipher cipher : ciphers()) {
    RecordWriter writer(cipher, key);
    std::string shorter = sealed(writer, "some text");
    shorter[0] = 8;
    CHECK(reason(cipher, shorter) == "record 0: it is not what was sealed, or not the next one");
    CHECK(reason(cipher, std::string(4, '\0')) == "record 0: want 1 to 65536 bytes in it, found 0");
    CHECK(reason(cipher, std::string(4, '\xff')) ==
          "record 0: want 1 to 65536 bytes in it, found 4294967295");
  }
}

TEST_CASE("records that are repeated, left out, turned around or another's are refused") {
  const std::string why = "it is not what was sealed, or not the next one";
  for (const Cipher cipher : ciphers()) {
    RecordWriter writer(cipher, key), another(cipher, other_key);
    const std::string one = sealed(writer, "one"), two = sealed(writer, "two");
    CHECK(reason(cipher, one + two) == "");
    CHECK(reason(cipher, one + one) == "record 1: " + why);
    CHECK(reason(cipher, two) == "record 0: " + why);
    CHECK(reason(cipher, two + one) == "record 0: " + why);
    CHECK(reason(cipher, sealed(another, "one")) == "record 0: " + why);
  }
}

TEST_CASE("a record that is torn is no text, and not between records") {
  for (const Cipher cipher : ciphers()) {
    RecordWriter writer(cipher, key);
    const std::string all = sealed(writer, "some text");
    for (std::size_t size = 1; size < all.size(); ++size) {
      RecordReader reader(cipher, key);
      Random random(size);
      CHECK(opened(reader, std::string_view(all).substr(0, size), random) == "");
      CHECK_FALSE(reader.between_records());
    }
  }
}

TEST_CASE("keys are renewed on both sides at the same record") {
  for (const Cipher cipher : ciphers()) {
    RecordCipher out(cipher, key), in(cipher, key);
    const Bytes text = as_bytes("text");
    std::byte bytes[4], tag[record_tag_bytes];
    std::uint64_t opened = 0;
    for (std::uint64_t i = 0; i < records_per_key + 3; ++i) {
      out.seal(text, bytes, tag);
      opened += in.open(bytes, bytes, tag) && as_text(bytes) == "text";
    }
    CHECK(opened == records_per_key + 3);
  }
}

TEST_CASE("of the ciphers that both have, the fastest is taken") {
  CHECK(best_of(0b110) == Cipher::aes256_gcm);
  CHECK(best_of(0b010) == Cipher::chacha20_poly1305);
  CHECK(best_of(0b001) == Cipher::none);
  CHECK((ciphers_here() & 0b010) != 0);
}
