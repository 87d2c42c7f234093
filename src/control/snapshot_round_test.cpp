#include "control/snapshot_round.h"

#include <doctest/doctest.h>

namespace piracema::cluster {

TEST_CASE("a snapshot is complete when every replica has saved, in whatever order") {
  SnapshotRound round(7, 2, SnapshotRound::Purpose::interval, Time{0}, 3);
  round.saved({2, 7, 1, 10, 0xA});
  round.saved({2, 7, 2, 20, 0xB});
  CHECK_FALSE(round.complete());
  CHECK_FALSE(round.has(0));
  round.saved({2, 7, 0, 30, 0xC});
  REQUIRE(round.complete());

  const store::Manifest manifest = round.manifest("graph", {{"count", "{i64}"}});
  CHECK(manifest.snapshot == 7);
  CHECK(manifest.epoch == 2);
  CHECK(manifest.job == "graph");
  CHECK(manifest.layouts.at("count") == "{i64}");
  CHECK_FALSE(manifest.finished);
  REQUIRE(manifest.parts.size() == 3);
  CHECK(manifest.parts[0] == store::Part{0, 30, 0xC});
  CHECK(manifest.parts[2] == store::Part{2, 20, 0xB});
  CHECK(round.bytes() == 60);
}

TEST_CASE("a replica that saves twice is counted once") {
  SnapshotRound round(1, 1, SnapshotRound::Purpose::interval, Time{0}, 2);
  round.saved({1, 1, 0, 10, 0xA});
  round.saved({1, 1, 0, 99, 0xB});
  CHECK_FALSE(round.complete());
  CHECK(round.bytes() == 10);
}

TEST_CASE("the snapshot of a job that has ended says so") {
  SnapshotRound round(1, 1, SnapshotRound::Purpose::final, Time{0}, 1);
  round.saved({1, 1, 0, 0, 0});
  CHECK(round.manifest("").finished);
}

}  // namespace piracema::cluster
