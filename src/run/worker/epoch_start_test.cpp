#include "run/worker/epoch_start.h"

#include <doctest/doctest.h>

#include <vector>

using namespace piracema;
using namespace piracema::runtime;

namespace {

struct ReadyEpochs {
  std::vector<Epoch> ready;
  EpochStart start{[this](Epoch epoch) { ready.push_back(epoch); }};
};

wire::Frame frame_of(Epoch epoch) {
  wire::Frame frame;
  frame.epoch = epoch;
  return frame;
}

}  // namespace

TEST_CASE("a process is ready when its replicas have begun and the others are connected") {
  ReadyEpochs f;
  CHECK_FALSE(f.start.left());
  CHECK_FALSE(f.start.all_connected());
  f.start.begin(3, 2, {{.slot = 1, .incarnation = 7}});
  CHECK(f.start.epoch() == 3);
  CHECK(f.start.left() == 3);
  f.start.begun(3);
  f.start.begun(3);
  CHECK_FALSE(f.start.all_connected());
  CHECK(f.ready.empty());
  f.start.connected(1, 6);  // An earlier incarnation.
  CHECK_FALSE(f.start.all_connected());
  f.start.connected(1, 7);
  CHECK(f.start.all_connected());
  f.start.check_ready();
  f.start.check_ready();
  CHECK(f.ready == std::vector<Epoch>{3});
  CHECK_FALSE(f.start.left());
}

TEST_CASE("a replica that has begun for an older epoch does not count") {
  ReadyEpochs f;
  f.start.begin(3, 1, {});
  f.start.begin(4, 1, {});
  f.start.begun(3);
  CHECK(f.ready.empty());
  f.start.begun(4);
  CHECK(f.ready == std::vector<Epoch>{4});
}

TEST_CASE("frames of an epoch to come are kept until it is asked for them") {
  ReadyEpochs f;
  f.start.begin(3, 1, {});
  wire::Frame now = frame_of(3), later = frame_of(4);
  CHECK_FALSE(f.start.keep_early(1, now));
  CHECK(f.start.keep_early(1, later));
  f.start.begin(4, 1, {});
  const auto early = f.start.take_early();
  REQUIRE(early.size() == 1);
  CHECK(early[0].first == 1);
  CHECK(early[0].second.epoch == 4);
  CHECK(f.start.take_early().empty());
}
