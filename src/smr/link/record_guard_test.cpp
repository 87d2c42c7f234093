#include "smr/link/record_guard.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/random.h"

using namespace piracema;
using namespace piracema::smr;

namespace {

const RecordKey key{std::byte{1}};

/// As on the way: header, payload, tag.
struct Record {
  Buffer bytes;
  static constexpr std::size_t header = 12;

  Record(RecordGuard& guard, const std::string& text) {
    bytes.append(std::string(header, static_cast<char>(guard.number())).data(), header);
    bytes.append(text.data(), text.size());
    const Tag tag = guard.close(Bytes(bytes).first(header), payload(text.size()));
    bytes.append(tag.data(), tag.size());
  }
  std::span<std::byte> payload(std::size_t size) { return {bytes.data() + header, size}; }
  std::string said() { return std::string(as_text(payload(bytes.size() - header - sizeof(Tag)))); }
  bool open(RecordGuard& guard) {
    return guard.open(Bytes(bytes).first(header), payload(bytes.size() - header - sizeof(Tag)),
                      Bytes(bytes).last(sizeof(Tag)));
  }
};

std::vector<Protection> all_ways() {
  std::vector<Protection> ways;
  for (const bool sealed : {false, true}) {
    ways.push_back({false, sealed});
    if (has_aes()) ways.push_back({true, sealed});
  }
  return ways;
}

}  // namespace

TEST_CASE("records are opened as they were closed, and what is sealed cannot be read") {
  for (const Protection how : all_ways()) {
    RecordGuard sender(key, how), receiver(key, how);
    for (int i = 0; i < 3; ++i) {
      Record record(sender, "what was said");
      CHECK((record.said() == "what was said") == !how.sealed);
      CHECK(record.open(receiver));
      CHECK(record.said() == "what was said");
    }
    CHECK(receiver.number() == 3);
  }
}

TEST_CASE("a record that was changed, repeated, left out, or is of another key does not open") {
  Random random(1);
  for (const Protection how : all_ways()) {
    for (int i = 0; i < 200; ++i) {
      RecordGuard sender(key, how), receiver(key, how);
      Record record(sender, "what was said");
      // The header of a sealed record is compared by whoever reads it.
      const std::size_t first = how.sealed ? Record::header : 0;
      record.bytes.data()[first + random.below(record.bytes.size() - first)] ^=
          static_cast<std::byte>(1u << random.below(8));
      CHECK_FALSE(record.open(receiver));
    }
    RecordGuard sender(key, how), receiver(key, how);
    RecordGuard other(RecordKey{std::byte{2}}, how);
    Record one(sender, "one"), two(sender, "two"), foreign(other, "one");
    CHECK_FALSE(foreign.open(receiver));
    if (!how.aes && !how.sealed) continue;  // Without AES the header has the number.
    RecordGuard late(key, how);
    CHECK_FALSE(two.open(late));
  }
}
