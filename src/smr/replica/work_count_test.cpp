#include "smr/replica/work_count.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::smr;
using std::chrono::seconds;

TEST_CASE("a leader is followed since it is another one than before") {
  WorkCount count;
  count.follows(seconds(1), 0);
  count.follows(seconds(3), 0);
  CHECK(count.figures(seconds(5)).leader_for == seconds(4));
  CHECK(count.figures(seconds(5)).leader_changes == 0);
  count.follows(seconds(6), 2);
  CHECK(count.figures(seconds(7)).leader_for == seconds(1));
  CHECK(count.figures(seconds(7)).leader_changes == 1);
}

TEST_CASE("operations and reads are counted by themselves") {
  WorkCount count;
  count.executed(3);
  count.executed(2);
  count.read();
  CHECK(count.figures(seconds(1)).ordered == 5);
  CHECK(count.figures(seconds(1)).reads == 1);
}

TEST_CASE("of the last checkpoint it is known how long it took, and how long ago it was") {
  WorkCount count;
  CHECK(count.figures(seconds(1)).checkpoints == 0);
  count.checkpoint_begun(seconds(10));
  count.checkpoint_taken(seconds(12), 77);
  const ReplicaFigures figures = count.figures(seconds(20));
  CHECK(figures.checkpoints == 1);
  CHECK(figures.checkpoint_took == seconds(2));
  CHECK(figures.checkpoint_age == seconds(8));
  CHECK(figures.checkpoint_bytes == 77);
}
