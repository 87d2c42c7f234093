#include "sim/scheduler.h"

#include <doctest/doctest.h>

#include <vector>

#include "sim/seeds.h"

namespace piracema::sim {

using std::chrono::milliseconds;

TEST_CASE("events happen in the order of their times, and of asking within one time") {
  Scheduler scheduler(1);
  std::string order;
  scheduler.at(milliseconds(2), [&] { order += 'c'; });
  scheduler.at(milliseconds(1), [&] { order += 'a'; });
  scheduler.at(milliseconds(1), [&] { order += 'b'; });
  while (scheduler.step()) {
  }
  CHECK(order == "abc");
  CHECK(scheduler.now() == milliseconds(2));
}

TEST_CASE("an event may ask for others, and time never goes back") {
  Scheduler scheduler(1);
  std::vector<Time> times;
  scheduler.at(milliseconds(5), [&] {
    scheduler.at(milliseconds(1), [&] { times.push_back(scheduler.now()); });
    scheduler.after(milliseconds(1), [&] { times.push_back(scheduler.now()); });
  });
  scheduler.run_until(milliseconds(10));
  CHECK(times == std::vector<Time>{milliseconds(5), milliseconds(6)});
  CHECK(scheduler.now() == milliseconds(10));
}

TEST_CASE("waiting for something ends when it is so, or when it can no longer be") {
  Scheduler scheduler(1);
  int count = 0;
  for (int i = 1; i <= 5; ++i) scheduler.at(milliseconds(i), [&] { count += 1; });
  CHECK(scheduler.run_until([&] { return count == 3; }, milliseconds(100)));
  CHECK(scheduler.now() == milliseconds(3));
  CHECK_FALSE(scheduler.run_until([&] { return count == 5; }, milliseconds(4)));
  CHECK(count == 4);
  CHECK_FALSE(scheduler.run_until([&] { return count == 6; }, milliseconds(100)));
}

TEST_CASE("the same seed makes the same run, another seed another one") {
  const auto run = [](std::uint64_t seed) {
    Scheduler scheduler(seed);
    std::vector<Time> times;
    for (int i = 0; i < 20; ++i) {
      scheduler.after(scheduler.between(Time{0}, milliseconds(5)),
                      [&] { times.push_back(scheduler.now()); });
    }
    while (scheduler.step()) {
    }
    return times;
  };
  CHECK(run(1) == run(1));
  CHECK(run(1) != run(2));
}

TEST_CASE("seeds are counted from 1") {
  if (tracing()) return;  // One seed is replayed.
  std::vector<std::uint64_t> found;
  for (const auto seed : Seeds(1, 4)) found.push_back(seed);
  CHECK(found == std::vector<std::uint64_t>{1, 2, 3});
}

}  // namespace piracema::sim
