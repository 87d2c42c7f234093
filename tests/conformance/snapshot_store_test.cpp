// What every snapshot store has to do.
#include <thread>
#include <type_traits>

#include "snapshot_stores.h"

namespace piracema::store {

TEST_CASE_TEMPLATE("a snapshot that is committed reads back as it was put", Fixture, EVERY_STORE) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  const Manifest first = take(store, 1);
  const Manifest second = take(store, 2, 5);

  CHECK(*store.list() == std::vector<SnapshotId>{1, 2});
  CHECK(*store.manifest(1) == first);
  CHECK(*store.manifest(2) == second);
  const auto state = store.get(2, second.parts[4]);
  REQUIRE(state);
  CHECK(as_text(*state) == state_of(2, 4));
}

TEST_CASE_TEMPLATE("an empty state and one of a few megabytes read back", Fixture, EVERY_STORE) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  std::string large(5'000'000, 0);
  Random random(1);
  for (char& c : large) c = static_cast<char>(random.next());
  const auto empty_part = store.put(1, 0, Bytes());
  const auto large_part = store.put(1, 1, as_bytes(large));
  REQUIRE(empty_part);
  REQUIRE(large_part);
  CHECK(large_part->bytes == large.size());

  CHECK(store.get(1, *empty_part)->empty());
  CHECK(as_text(*store.get(1, *large_part)) == large);
}

TEST_CASE_TEMPLATE("a part that is put in pieces is the one that is put at once", Fixture,
                   EVERY_STORE) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  const Keyed keyed({1, 0});
  for (const std::size_t piece : {std::size_t{1}, std::size_t{300}, std::size_t{100'000}}) {
    CAPTURE(piece);
    const auto whole = store.put_indexed(1, 0, as_bytes(keyed.data), keyed.index);
    REQUIRE(whole);
    auto stream = store.begin_part(1, 0);
    REQUIRE(stream);
    for (std::size_t at = 0; at < keyed.data.size(); at += piece) {
      REQUIRE((*stream)->append(as_bytes(keyed.data.substr(at, piece))));
    }
    REQUIRE((*stream)->append(Bytes()));
    const auto part = (*stream)->finish(keyed.index);
    REQUIRE(part);
    CHECK(*part == *whole);
    CHECK(*store.index(1, *part) == keyed.index);
    CHECK(as_text(*store.get(1, *part)) == "plain");
    CHECK(as_text(*store.read({1, 0}, 0, keyed.data.size())) == keyed.data);
  }
  const auto part = store.put_indexed(1, 0, as_bytes(keyed.data), keyed.index);
  REQUIRE(store.commit({.snapshot = 1, .parts = {*part}}));
  CHECK(verify(store, 1));
}

TEST_CASE_TEMPLATE("a part in pieces that was not finished is none", Fixture, EVERY_STORE) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  const Keyed first({1, 0}), second({1, 0}, 500);
  {
    auto stream = store.begin_part(1, 0);
    REQUIRE(stream);
    REQUIRE((*stream)->append(as_bytes(first.data)));
    CHECK(store.read({1, 0}, 0, 1).error().code == Errc::corrupt);
    CHECK(store.commit({.snapshot = 1, .parts = {Part{.replica = 0}}}).error().code ==
          Errc::not_found);
  }
  CHECK(store.read({1, 0}, 0, 1).error().code == Errc::corrupt);

  // Nor does it do anything to a part that is there, until it is finished.
  const auto put = store.put_indexed(1, 0, as_bytes(first.data), first.index);
  auto stream = store.begin_part(1, 0);
  REQUIRE(stream);
  REQUIRE((*stream)->append(as_bytes(second.data)));
  CHECK(*store.index(1, *put) == first.index);
  const auto replaced = (*stream)->finish(second.index);
  REQUIRE(replaced);
  CHECK(*store.index(1, *replaced) == second.index);
}

TEST_CASE_TEMPLATE("no part comes into a complete snapshot, not even one that was begun before",
                   Fixture, EVERY_STORE) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  const Keyed keyed({1, 7});
  auto early = store.begin_part(1, 7);
  REQUIRE(early);
  take(store, 1);
  CHECK(store.begin_part(1, 7).error().code == Errc::refused);
  REQUIRE((*early)->append(as_bytes(keyed.data)));
  CHECK((*early)->finish(keyed.index).error().code == Errc::refused);
  CHECK(store.read({1, 7}, 0, 1).error().code == Errc::corrupt);
}

TEST_CASE("a part in pieces that fails leaves no file, wherever it fails") {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    MemoryStore store({.put = 1, .seed = seed});
    const Keyed keyed({1, 0});
    CHECK(store.put_indexed(1, 0, as_bytes(keyed.data), keyed.index).error().code == Errc::io);
    CHECK(store.read({1, 0}, 0, 1).error().code == Errc::corrupt);
  }
}

TEST_CASE_TEMPLATE("a snapshot that is not committed is not there", Fixture, EVERY_STORE) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  REQUIRE(put_all(store, 1));

  CHECK(store.list()->empty());
  CHECK(store.manifest(1).error().code == Errc::not_found);
  CHECK(newest(store) == 0);
}

TEST_CASE_TEMPLATE("a store says whether a snapshot can be found in it", Fixture, EVERY_STORE) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  CHECK(store.find(std::nullopt));
  take(store, 1);
  REQUIRE(put_all(store, 2));
  CHECK(store.find(1));
  CHECK(store.find(2).error().code == Errc::not_found);
  REQUIRE(store.drop(1));
  CHECK(store.find(1).error().code == Errc::not_found);
  CHECK(store.find(std::nullopt));
}

TEST_CASE("a directory that was moved, or replaced by an empty one, is not found") {
  InDirectory fixture;
  take(fixture.store, 1);
  std::filesystem::rename(fixture.store.path(), fixture.scratch.path() + "/elsewhere");
  for (const std::optional<SnapshotId> snapshot :
       {std::optional<SnapshotId>(), std::optional<SnapshotId>(1)}) {
    const auto gone = fixture.store.find(snapshot);
    CHECK(gone.error().code == Errc::not_found);
    CHECK(gone.error().message ==
          fixture.store.path() + ": want a snapshot directory, found nothing");
  }
  std::filesystem::create_directory(fixture.store.path());
  CHECK(fixture.store.find(1).error().code == Errc::config);
  std::filesystem::remove(fixture.store.path());
  std::filesystem::rename(fixture.scratch.path() + "/elsewhere", fixture.store.path());
  CHECK(fixture.store.find(1));
}

TEST_CASE_TEMPLATE("another attempt overwrites what an aborted one left", Fixture, EVERY_STORE) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  REQUIRE(store.put(1, 0, as_bytes("a state that is longer than the next one will be")));
  REQUIRE(store.put(1, 1, as_bytes("short")));

  const Manifest manifest = take(store, 1);
  CHECK(intact_or_named(store, manifest, ""));
}

TEST_CASE_TEMPLATE("a late put or commit does not change a snapshot that is complete", Fixture,
                   EVERY_STORE) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  const Manifest manifest = take(store, 1);

  CHECK(store.put(1, 0, as_bytes("late")).error().code == Errc::refused);
  CHECK(store.commit({.snapshot = 1}).error().code == Errc::refused);
  CHECK(intact_or_named(store, manifest, ""));
}

TEST_CASE_TEMPLATE("a snapshot without one of its parts is not committed", Fixture, EVERY_STORE) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  auto manifest = put_all(store, 1);
  REQUIRE(manifest);
  manifest->parts.push_back({9, 1, 1});

  const auto committed = store.commit(*manifest);
  REQUIRE_FALSE(committed);
  CHECK(committed.error().code == Errc::not_found);
  CHECK(contains(committed.error().message, "000000000001/part-0009: "));
  CHECK(store.list()->empty());
}

TEST_CASE_TEMPLATE("what is dropped is gone, complete or not, and may come again", Fixture,
                   EVERY_STORE) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  take(store, 1);
  REQUIRE(put_all(store, 2));

  CHECK(store.drop(1).ok());
  CHECK(store.drop(2).ok());
  CHECK(store.drop(3).ok());
  CHECK(store.list()->empty());
  CHECK(store.commit({.snapshot = 2, .parts = {{0, 1, 1}}}).error().code == Errc::not_found);
  CHECK(intact_or_named(store, take(store, 1), ""));
}

TEST_CASE_TEMPLATE("a name keeps its snapshot until it is deleted", Fixture, EVERY_STORE) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  const Manifest first = take(store, 1);
  take(store, 2);
  REQUIRE(store.add_savepoint("v1", 1));
  CHECK(store.add_savepoint("v1", 1));  // Once more.
  CHECK(*store.savepoints() == Savepoints{{"v1", 1}});

  REQUIRE(store.drop(1));
  REQUIRE(store.drop(2));
  CHECK(*store.list() == std::vector<SnapshotId>{1});
  CHECK(intact_or_named(store, first, ""));

  REQUIRE(store.delete_savepoint("v1"));
  CHECK(store.savepoints()->empty());
  CHECK(*store.list() == std::vector<SnapshotId>{1});
  REQUIRE(store.drop_released());
  CHECK(store.list()->empty());
}

TEST_CASE_TEMPLATE("the last of two names lets a snapshot go, with the next one that is dropped",
                   Fixture, EVERY_STORE) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  for (const SnapshotId snapshot : {1, 2, 3}) take(store, snapshot);
  REQUIRE(store.add_savepoint("a", 1));
  REQUIRE(store.add_savepoint("b", 1));
  REQUIRE(store.drop(1));
  REQUIRE(store.delete_savepoint("a"));
  REQUIRE(store.drop_released());
  CHECK(*store.list() == std::vector<SnapshotId>{1, 2, 3});
  REQUIRE(store.delete_savepoint("b"));
  REQUIRE(store.drop(2));
  CHECK(*store.list() == std::vector<SnapshotId>{3});
}

TEST_CASE_TEMPLATE("a name is of one snapshot that is there, and not going", Fixture, EVERY_STORE) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  take(store, 1);
  take(store, 2);
  REQUIRE(put_all(store, 3));
  REQUIRE(store.add_savepoint("a", 1));
  CHECK(store.add_savepoint("a", 2).error().code == Errc::refused);
  CHECK(store.add_savepoint("b", 3).error().code == Errc::not_found);
  CHECK(store.add_savepoint("c", 9).error().code == Errc::not_found);
  CHECK(store.add_savepoint("../d", 1).error().code == Errc::config);
  CHECK(store.delete_savepoint("e").error().code == Errc::not_found);
  // Who drops it has looked for names already, for all that another one knows.
  REQUIRE(store.drop(1));
  CHECK(store.add_savepoint("f", 1).error().code == Errc::refused);
  CHECK(store.add_savepoint("a", 1).error().code == Errc::refused);
  CHECK(*store.savepoints() == Savepoints{{"a", 1}});
}

TEST_CASE_TEMPLATE("what a job goes on with is its own again, though it had dropped it", Fixture,
                   EVERY_STORE) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  take(store, 1);
  REQUIRE(store.add_savepoint("a", 1));
  REQUIRE(store.drop(1));
  REQUIRE(store.reclaim({1, 2}));
  REQUIRE(store.delete_savepoint("a"));
  REQUIRE(store.drop_released());
  CHECK(*store.list() == std::vector<SnapshotId>{1});
  REQUIRE(store.drop(1));
  CHECK(store.list()->empty());
}

TEST_CASE_TEMPLATE("files that a named snapshot needs stay with it, and go with its name", Fixture,
                   EVERY_STORE) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  const Keyed first({1, 0}), second({2, 0});
  REQUIRE(put_all(store, 1, 0));
  const auto base = store.put_indexed(1, 0, as_bytes(first.data), first.index);
  REQUIRE(base);
  REQUIRE(store.commit({.snapshot = 1, .parts = {*base}}));
  PartIndex index = second.index;
  index.files = {{{1, 0}, {0, 16}, seal(first.index.units)}};
  const auto added = store.put_indexed(2, 0, as_bytes(second.data), index);
  REQUIRE(added);
  REQUIRE(store.commit({.snapshot = 2, .parts = {*added}}));
  take(store, 3);

  REQUIRE(store.add_savepoint("a", 2));
  REQUIRE(store.drop(1));
  REQUIRE(store.drop(2));
  CHECK(*store.list() == std::vector<SnapshotId>{2, 3});
  CHECK(verify(store, 2));
  REQUIRE(store.delete_savepoint("a"));
  REQUIRE(store.drop_released());
  CHECK(*store.list() == std::vector<SnapshotId>{3});
  CHECK(store.read({1, 0}, 0, 1).error().code == Errc::corrupt);
}

TEST_CASE_TEMPLATE("no new name is one of what is still written", Fixture, EVERY_STORE) {
  Fixture fixture;
  take(fixture.store, 1);
  const auto given = fixture.store.add_savepoint("n-19389a45-2227-420b-893e-96cbed9fe76f", 1);
  REQUIRE_FALSE(given);
  CHECK(given.error().code == Errc::config);
  CHECK(fixture.store.savepoints()->empty());
}

TEST_CASE_TEMPLATE("a name that was given in time keeps a snapshot that is dropped meanwhile",
                   Fixture, EVERY_STORE) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  // In HDFS a round takes a second.
  constexpr SnapshotId rounds = std::is_same_v<Fixture, InHdfs> ? 8 : 40;
  for (SnapshotId snapshot = 1; snapshot <= rounds; ++snapshot) {
    const Manifest manifest = take(store, snapshot);
    CAPTURE(snapshot);
    Result<Done> dropped = Done{};
    std::thread dropping([&] { dropped = store.drop(snapshot); });
    const auto named = store.add_savepoint(concat("n", snapshot), snapshot);
    dropping.join();
    CHECK_MESSAGE(dropped, dropped.error().message);
    if (named) {
      CHECK(verify(store, snapshot));
    } else {
      CHECK((named.error().code == Errc::refused || named.error().code == Errc::not_found));
      CHECK_FALSE(store.savepoints()->contains(concat("n", snapshot)));
      REQUIRE(store.drop_released());
      CHECK(store.find(snapshot).error().code == Errc::not_found);
    }
  }
}

TEST_CASE_TEMPLATE("the entry of another part does not fit", Fixture, EVERY_STORE) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  const Manifest manifest = take(store, 1);
  Part part = manifest.parts[0];
  SUBCASE("another length") { part.bytes += 1; }
  SUBCASE("a length beyond all bounds") { part.bytes = ~std::uint64_t{0}; }
  SUBCASE("another checksum") { part.checksum += 1; }
  SUBCASE("a replica without a part") { part.replica = 7; }

  const auto state = store.get(1, part);
  REQUIRE_FALSE(state);
  CHECK(state.error().code == Errc::corrupt);
  CHECK(contains(state.error().message, "000000000001/part-000"));
}

TEST_CASE_TEMPLATE("four threads put their replicas at once", Fixture, EVERY_STORE) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  constexpr ReplicaId threads = 4, each = 8;
  Manifest manifest;
  manifest.snapshot = 1;
  manifest.parts.resize(threads * each);
  std::vector<std::thread> running;
  for (ReplicaId thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      for (ReplicaId i = 0; i < each; ++i) {
        const ReplicaId replica = thread * each + i;
        const auto part = store.put(1, replica, as_bytes(state_of(1, replica)));
        if (part) manifest.parts[replica] = *part;
      }
    });
  }
  for (std::thread& thread : running) thread.join();

  REQUIRE(store.commit(manifest));
  CHECK(intact_or_named(store, manifest, ""));
}

}  // namespace piracema::store
