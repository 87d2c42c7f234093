#include "store/snapshot/memory_store.h"

#include <doctest/doctest.h>

#include "base/testing.h"
#include "base/text.h"

namespace piracema::store {

using namespace testing;

namespace {

void take(MemoryStore& store, SnapshotId snapshot, std::string_view state) {
  Manifest manifest;
  manifest.snapshot = snapshot;
  for (ReplicaId replica = 0; replica < 3; ++replica) {
    const auto part = store.put(snapshot, replica, as_bytes(state));
    REQUIRE(part);
    manifest.parts.push_back(*part);
  }
  REQUIRE(store.commit(manifest));
}

SnapshotId newest(MemoryStore& store) {
  std::vector<Error> refused;
  const auto manifest = newest_intact(store, refused);
  REQUIRE((manifest || manifest.error().code == Errc::refused));
  return manifest && *manifest ? (*manifest)->snapshot : 0;
}

}  // namespace

TEST_CASE("a snapshot that is committed twice is complete once, and never by another manifest") {
  MemoryStore store;
  take(store, 7, "state");
  auto manifest = store.manifest(7);
  REQUIRE(manifest);
  manifest->created += 5;
  CHECK(store.commit(*manifest).ok());
  manifest->epoch += 1;
  CHECK(store.commit(*manifest).error().code == Errc::refused);
  CHECK(store.drop(7).ok());
  CHECK(store.drop(7).ok());
}

TEST_CASE("a full disk refuses what is put and committed, and nothing else") {
  MemoryStore store;
  take(store, 1, "state");

  store.set_faults({.put = 1});
  const auto part = store.put(2, 0, as_bytes("state"));
  REQUIRE_FALSE(part);
  CHECK(part.error().code == Errc::io);
  CHECK(contains(part.error().message, "000000000002/part-0000"));

  store.set_faults({.commit = 1});
  REQUIRE(store.put(2, 0, as_bytes("state")));
  CHECK(store.commit({.snapshot = 2}).error().code == Errc::io);
  CHECK(newest(store) == 1);

  store.set_faults({});
  take(store, 2, "state");
  CHECK(newest(store) == 2);
}

TEST_CASE("faults come again with their seed") {
  const auto outcomes = [](std::uint64_t seed) {
    MemoryStore store({.put = 0.5, .seed = seed});
    std::string seen;
    for (ReplicaId replica = 0; replica < 64; ++replica) {
      seen += store.put(1, replica, {}) ? 'y' : 'n';
    }
    return seen;
  };
  CHECK(outcomes(1) == outcomes(1));
  CHECK(outcomes(1) != outcomes(2));
}

TEST_CASE("what a crash leaves of a snapshot is not there, whole, or refused") {
  int absent = 0, whole = 0, refused_count = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    MemoryStore store;
    take(store, 1, "old");
    const auto part = store.put(2, 0, as_bytes("new"));
    REQUIRE(part);
    store.crash_in_commit({.snapshot = 2, .parts = {*part}}, random);

    std::vector<Error> refused;
    const auto manifest = newest_intact(store, refused);
    REQUIRE(manifest);
    REQUIRE(*manifest);
    const bool found_new = (*manifest)->snapshot == 2;
    whole += found_new;
    refused_count += !found_new && refused.size() == 1;
    absent += !found_new && refused.empty();
    if (!refused.empty()) CHECK(contains(refused[0].message, "000000000002/manifest.json"));
  }
  CHECK(absent > 50);
  CHECK(whole > 50);
  CHECK(refused_count > 50);
  CHECK(absent + whole + refused_count == 500);
}

TEST_CASE("a part that a crash tore is overwritten by the next attempt, or refused") {
  int torn = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    MemoryStore store, intact;
    const auto part = intact.put(1, 0, as_bytes("state"));
    REQUIRE(part);

    store.crash_in_put(1, 0, as_bytes("state"), random);
    const auto left = store.get(1, *part);
    if (left) {
      CHECK(as_text(*left) == "state");
    } else {
      CHECK(left.error().message.starts_with("000000000001/part-0000: "));
      torn += 1;
    }

    REQUIRE(store.put(1, 0, as_bytes("state")));
    CHECK(store.get(1, *part).ok());
  }
  CHECK(torn > 100);
}

TEST_CASE("a crash inside of a call does not change a snapshot that is complete") {
  Random random(1);
  MemoryStore store;
  take(store, 1, "state");
  for (int i = 0; i < 50; ++i) {
    store.crash_in_put(1, 0, as_bytes("another"), random);
    store.crash_in_commit({.snapshot = 1}, random);
  }
  CHECK(verify(store, 1).ok());
}

TEST_CASE("damage to one file costs that snapshot at most") {
  int lost = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    MemoryStore store;
    take(store, 1, "old");
    take(store, 2, "new");
    const std::string file = store.damage(2, random);

    std::vector<Error> refused;
    const auto manifest = newest_intact(store, refused);
    REQUIRE(manifest);
    REQUIRE(*manifest);
    lost += (*manifest)->snapshot == 1;
    if (!refused.empty()) CHECK(refused[0].message.starts_with(file + ": "));
  }
  CHECK(lost > 400);  // The others are bits in white space.
}

}  // namespace piracema::store
