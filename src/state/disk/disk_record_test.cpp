#include "state/disk/disk_record.h"

#include <doctest/doctest.h>

#include <string>

using namespace piracema;
namespace record = state::disk_record;

namespace {

const std::string key_text = "key", state_text = "state";

std::string key_for(std::uint64_t mixed, const std::string& key) {
  Buffer out;
  record::put_key(mixed, as_bytes(key), out);
  return std::string(as_text(out));
}
std::string index_key_for(std::uint64_t version, std::uint64_t mixed, const std::string& key) {
  Buffer out;
  record::put_index_key(version, mixed, as_bytes(key), out);
  return std::string(as_text(out));
}

}  // namespace

TEST_CASE("a record says of which key it is, and an index of which version as well") {
  constexpr std::uint64_t mixed = 0x0123456789abcdef;
  const std::string own = key_for(mixed, key_text);
  CHECK(record::mixed_of(as_bytes(own)) == mixed);
  CHECK(as_text(record::key_of(as_bytes(own))) == key_text);
  const std::string index = index_key_for(9, mixed, key_text);
  CHECK(record::index_version_of(as_bytes(index)) == 9);
  CHECK(record::index_mixed_of(as_bytes(index)) == mixed);
  CHECK(as_text(record::index_key_of(as_bytes(index))) == key_text);
}

TEST_CASE("records lie in the order of their hashes, the index in that of its versions first") {
  CHECK(key_for(255, "z") < key_for(256, "a"));
  CHECK(key_for(7, "a") < key_for(7, "b"));
  CHECK(index_key_for(255, ~std::uint64_t{0}, "z") < index_key_for(256, 0, "a"));
  CHECK(index_key_for(1, 255, "z") < index_key_for(1, 256, "a"));
  // The index is behind all records.
  CHECK(key_for(~std::uint64_t{0}, "z") < index_key_for(0, 0, ""));
}

TEST_CASE("a record has its version, what there is of the key, and its state") {
  for (const bool has_state : {false, true}) {
    for (const bool ever : {false, true}) {
      const record::Head head{0xfedcba9876543210, has_state, ever};
      Buffer out;
      record::put(head, as_bytes(state_text), out);
      CHECK(record::head_of(out) == head);
      CHECK(as_text(record::state_of(out)) == state_text);
    }
  }
}
