#include "state/keyed_saver.h"

#include <doctest/doctest.h>
#include <piracema/detail/keyed_table.h>

#include <map>

#include "base/random.h"
#include "state/keyed_job_testing.h"
#include "store/snapshot/memory_store.h"

using namespace piracema;
using detail::KeyedTable;
using state::KeyedSaver;
using state::testing::groups;
using state::testing::mixed;
using state::testing::Model;

namespace {

using Table = KeyedTable<std::int64_t, std::int64_t>;

/// One replica, and a store that keeps the newest snapshot.
struct Saving {
  Saving() { table.own(groups, {0, 16}); }

  void put(std::int64_t key, std::int64_t value) {
    table.edit(key, mixed(key)) = value;
    model[key] = value;
  }
  store::Part save(SnapshotId snapshot) {
    saver.freeze(snapshot, complete);
    saver.begin({});
    while (saver.go_on()) {
    }
    auto part = store.put_content(snapshot, 0, saver.take());
    REQUIRE(part);
    return *part;
  }
  // Makes it complete, and drops the one before.
  void commit(SnapshotId snapshot, const store::Part& part) {
    REQUIRE(store.commit({.snapshot = snapshot, .epoch = 1, .job = "job", .parts = {part}}));
    if (complete != 0) REQUIRE(store.drop(complete));
    complete = snapshot;
  }
  Model read() {
    Table other;
    other.own(groups, {0, 16});
    REQUIRE(store::verify(store, complete));
    const auto manifest = store.manifest(complete);
    auto index = store.index(complete, manifest->parts[0]);
    REQUIRE(index);
    const auto units = store::units_of(store, {complete, 0}, *index, {0, 16});
    REQUIRE(units);
    REQUIRE(store::read_units(store, *units, [&](const auto& unit, Bytes bytes) {
      other.replay(unit.group, bytes, saved_in::none);
      return Result<Done>(Done{});
    }));
    Model found;
    other.for_each([&](std::int64_t key, std::int64_t value) { found[key] = value; });
    return found;
  }

  Table table;
  Model model;
  KeyedSaver saver{0, groups, table};
  store::MemoryStore store;
  SnapshotId complete = 0;
};

}  // namespace

TEST_CASE("a snapshot has what has changed, and names where the rest lies") {
  Saving saving;
  for (std::int64_t i = 0; i < 20'000; ++i) saving.put(i, i);
  const store::Part first = saving.save(1);
  CHECK(first.files.empty());
  saving.commit(1, first);
  saving.put(7, 8);
  const store::Part second = saving.save(2);
  CHECK(second.files == std::vector<store::PartFile>{{1, 0}});
  CHECK(second.bytes < first.bytes / 10);
  saving.commit(2, second);
  CHECK(saving.read() == saving.model);
  CHECK(saving.store.list()->size() == 1);
}

TEST_CASE("a part comes in pieces as it is saved, and is the one that comes at once") {
  Table tables[2];
  for (Table& table : tables) {
    table.own(groups, {0, 16});
    for (std::int64_t i = 0; i < 20'000; ++i) table.edit(i, mixed(i)) = i;
  }
  KeyedSaver at_once(0, groups, tables[0], std::size_t{1} << 30);
  KeyedSaver in_pieces(0, groups, tables[1], 10'000);
  for (SnapshotId snapshot = 1; snapshot <= 3; ++snapshot) {
    at_once.freeze(snapshot, 0);
    at_once.begin(Buffer(as_bytes("plain")));
    while (at_once.go_on()) {
    }
    const store::PartContent whole = at_once.take();
    CHECK(whole.before == 0);

    in_pieces.freeze(snapshot, 0);
    in_pieces.begin(Buffer(as_bytes("plain")));
    Buffer all;
    std::size_t pieces = 0;
    while (in_pieces.go_on()) {
      const Buffer piece = in_pieces.take_piece();
      if (piece.empty()) continue;
      CHECK(piece.size() >= 10'000);
      CHECK(piece.size() < 30'000);
      all.append(piece.data(), piece.size());
      pieces += 1;
    }
    const store::PartContent rest = in_pieces.take();
    CHECK(pieces >= 10);
    CHECK(rest.before == all.size());
    all.append(rest.data.data(), rest.data.size());
    CHECK(as_text(all) == as_text(whole.data));
    // A unit ends with its piece.
    CHECK(rest.index->units.size() > whole.index->units.size());
  }
}

TEST_CASE("what was saved in a snapshot that was given up is saved again") {
  Saving saving;
  for (std::int64_t i = 0; i < 2'000; ++i) saving.put(i, i);
  saving.commit(1, saving.save(1));
  saving.put(7, 8);
  saving.save(2);
  REQUIRE(saving.store.drop(2));
  saving.put(9, 10);
  const store::Part third = saving.save(3);
  CHECK(third.files == std::vector<store::PartFile>{{1, 0}});
  saving.commit(3, third);
  CHECK(saving.read() == saving.model);
}

TEST_CASE(
    "files of earlier snapshots are few, at least half in use, and gone when nobody names them") {
  Saving saving;
  for (std::int64_t i = 0; i < 50'000; ++i) saving.put(i, i);
  saving.commit(1, saving.save(1));
  Random random(1);
  std::uint64_t written = 0;
  for (SnapshotId snapshot = 2; snapshot < 200; ++snapshot) {
    const std::uint64_t changes = random.below(4);
    for (std::uint64_t i = 0; i < changes; ++i) {
      saving.put(static_cast<std::int64_t>(random.below(51'000)),
                 static_cast<std::int64_t>(snapshot));
    }
    const store::Part part = saving.save(snapshot);
    CHECK(part.files.size() < 64);
    written += part.bytes;
    // Now and then one is given up.
    if (random.chance(0.1)) {
      REQUIRE(saving.store.drop(snapshot));
      continue;
    }
    saving.commit(snapshot, part);
    if (snapshot % 20 == 0) CHECK(saving.read() == saving.model);
  }
  CHECK(saving.read() == saving.model);
  const auto manifest = saving.store.manifest(saving.complete);
  for (const store::PartFile& file : manifest->parts[0].files) {
    CHECK(saving.store.read(file, 0, 1));
  }
  CHECK_FALSE(saving.store.read({2, 0}, 0, 1));
}
