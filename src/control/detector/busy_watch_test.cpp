#include "control/detector/busy_watch.h"

#include <doctest/doctest.h>

namespace piracema::cluster {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

runtime::Progress at(std::uint32_t calls, std::uint64_t item) {
  return {.replica = 7, .calls = calls, .item = item};
}

/// Heartbeats as they come, four a second.
struct Heart {
  BusyWatch watch{milliseconds(500), seconds(10)};
  Time now{};
  int told = 0;

  std::optional<BusyWatch::Busy> beat(const runtime::Progress& progress) {
    now += milliseconds(250);
    auto busy = watch.heard(now, progress);
    if (busy) told += busy->tell;
    return busy;
  }
};

}  // namespace

TEST_CASE("a replica that stays at one item is told of after ten seconds, and then ever later") {
  Heart heart;
  for (int i = 0; i < 40; ++i) CHECK_FALSE(heart.beat(at(3, 17))->tell);
  const auto busy = heart.beat(at(3, 17));
  CHECK(busy->tell);
  CHECK(busy->item == 17);
  CHECK(busy->since == seconds(10));
  for (int i = 0; i < 4 * 69; ++i) heart.beat(at(3, 17));
  CHECK(heart.told == 3);  // After 10, 20 and 40 seconds.
}

TEST_CASE("a replica that gets on is never told of, be it with a batch of many items or none") {
  Heart heart;
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    heart.beat(at(3, i));
    heart.beat(at(static_cast<std::uint32_t>(2 * i + 1), 17));
    CHECK_FALSE(heart.beat(at(4, 17)));
  }
  CHECK(heart.told == 0);
}

TEST_CASE("what is no item is told of as well") {
  Heart heart;
  for (int i = 0; i < 40; ++i) heart.beat(at(1, runtime::Progress::no_item));
  const auto busy = heart.beat(at(1, runtime::Progress::no_item));
  CHECK(busy->tell);
  CHECK_FALSE(busy->item);
}

TEST_CASE("time without heartbeats does not count") {
  Heart heart;
  for (int i = 0; i < 20; ++i) {
    heart.beat(at(3, 17));
    heart.now += seconds(100);
  }
  CHECK(heart.told == 0);
}

}  // namespace piracema::cluster
