#include "run/barrier/part_writer.h"

#include <doctest/doctest.h>

#include <string>

#include "store/snapshot/memory_store.h"
#include "wire/checksum.h"

using namespace piracema;
using runtime::PartWriter;

namespace {

/// A part of one unit, and how it is handed over: `before` of it in pieces.
store::PartContent end_of(const std::string& all, std::size_t before, SnapshotId snapshot) {
  const Bytes bytes = as_bytes(all);
  store::PartIndex index{0, wire::checksum(Bytes()), 16, {}};
  index.units.push_back({3, 0, 0, {snapshot, 5}, 0, bytes.size(), wire::checksum(bytes)});
  return {Buffer(bytes.subspan(before)), std::move(index), before};
}

/// What a store has of it; empty if it is none or damaged.
std::string read(store::SnapshotStore& store, SnapshotId snapshot, const store::Part& part) {
  const auto index = store.index(snapshot, part);
  if (!index) return {};
  const auto bytes = store.read({snapshot, 5}, 0, index->units[0].bytes);
  return bytes && wire::checksum(*bytes) == index->units[0].checksum ? std::string(as_text(*bytes))
                                                                     : std::string();
}

}  // namespace

TEST_CASE("pieces and what follows them are one part") {
  store::MemoryStore store;
  PartWriter writer(store);
  writer.add({1, 7, 5}, as_bytes("one, "));
  writer.add({1, 7, 5}, as_bytes("two, "));
  writer.add({1, 7, 6}, as_bytes("another replica's"));
  const auto part = writer.put({1, 7, 5}, end_of("one, two, three", 10, 7));
  REQUIRE(part);
  CHECK(read(store, 7, *part) == "one, two, three");
  const auto whole = writer.put({1, 8, 5}, end_of("all", 0, 8));
  REQUIRE(whole);
  CHECK(read(store, 8, *whole) == "all");
}

TEST_CASE("what was begun for another snapshot, or in another epoch, is given up") {
  for (const PartWriter::Of next : {PartWriter::Of{1, 8, 5}, PartWriter::Of{2, 8, 5}}) {
    for (const bool in_pieces : {true, false}) {
      store::MemoryStore store;
      PartWriter writer(store);
      writer.add({1, 7, 5}, as_bytes("old"));
      if (in_pieces) writer.add(next, as_bytes("ne"));
      const auto part = writer.put(next, end_of("new", in_pieces ? 2 : 0, 8));
      REQUIRE(part);
      CHECK(read(store, 8, *part) == "new");
      CHECK_FALSE(store.read({7, 5}, 0, 1));
    }
  }
}

TEST_CASE("a piece that cannot be stored fails its part, and not the next one") {
  std::uint64_t failed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    store::MemoryStore store({.put = 1, .seed = seed});
    PartWriter writer(store);
    writer.add({1, 7, 5}, as_bytes("one, "));
    writer.add({1, 7, 5}, as_bytes("two, "));
    const auto part = writer.put({1, 7, 5}, end_of("one, two, three", 10, 7));
    REQUIRE_FALSE(part);
    CHECK(part.error().code == Errc::io);
    CHECK_FALSE(store.read({7, 5}, 0, 1));
    failed += 1;
    store.set_faults({});
    writer.add({1, 8, 5}, as_bytes("one, "));
    CHECK(writer.put({1, 8, 5}, end_of("one, two", 5, 8)));
  }
  CHECK(failed == 20);
}
