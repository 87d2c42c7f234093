#include "control/coordinator/snapshots/snapshot_round.h"

#include <doctest/doctest.h>

namespace piracema::cluster {

TEST_CASE("a snapshot is complete when every replica has saved, in whatever order") {
  SnapshotRound round(7, 2, SnapshotPurpose::interval, Time{0}, 3);
  round.saved({2, 7, 1, 10, 0xA});
  round.saved({2, 7, 2, 20, 0xB});
  CHECK_FALSE(round.complete());
  CHECK_FALSE(round.has(0));
  round.saved({2, 7, 0, 30, 0xC});
  REQUIRE(round.complete());

  const SavedSnapshot snapshot = round.result();
  CHECK(snapshot.id == 7);
  CHECK(snapshot.epoch == 2);
  CHECK(snapshot.purpose == SnapshotPurpose::interval);
  REQUIRE(snapshot.parts.size() == 3);
  CHECK(snapshot.parts[0].replica == 0);
  CHECK(snapshot.parts[0].checksum == 0xC);
  CHECK(snapshot.parts[2].bytes == 20);
  CHECK(snapshot.bytes() == 60);
}

TEST_CASE("a replica that saves twice is counted once") {
  SnapshotRound round(1, 1, SnapshotPurpose::interval, Time{0}, 2);
  round.saved({1, 1, 0, 10, 0xA});
  round.saved({1, 1, 0, 99, 0xB});
  CHECK_FALSE(round.complete());
  round.saved({1, 1, 1, 5, 0xC});
  CHECK(round.result().bytes() == 15);
}

}  // namespace piracema::cluster
