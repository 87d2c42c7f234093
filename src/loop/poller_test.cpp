#include "loop/poller.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "loop/test_support.h"

using namespace piracema;
using namespace piracema::net;
using std::chrono::milliseconds;

TEST_CASE("a callback is called while its descriptor is ready, and not once it is forgotten") {
  Poller poller;
  auto [near, far] = stream_pair();
  int calls = 0;
  poller.watch(near.get(), EPOLLIN, [&](std::uint32_t) { calls += 1; });

  poller.run_once(milliseconds(0));
  CHECK(calls == 0);
  REQUIRE(::write(far.get(), "x", 1) == 1);
  poller.run_once(milliseconds(1'000));
  poller.run_once(milliseconds(1'000));
  CHECK(calls == 2);
  poller.forget(near.get());
  poller.run_once(milliseconds(0));
  CHECK(calls == 2);
}

TEST_CASE("a callback may forget itself and others that are ready, and reuse their numbers") {
  Poller poller;
  auto one = stream_pair();
  auto two = stream_pair();
  const int first = one.first.get();
  const int second = two.first.get();
  int calls = 0;
  int later_calls = 0;
  const auto forget_both = [&](std::uint32_t) {
    calls += 1;
    poller.forget(first);
    poller.forget(second);
    poller.watch(first, EPOLLIN, [&](std::uint32_t) { later_calls += 1; });
    poller.watch(second, EPOLLIN, [&](std::uint32_t) { later_calls += 1; });
  };
  poller.watch(first, EPOLLIN, forget_both);
  poller.watch(second, EPOLLIN, forget_both);
  REQUIRE(::write(one.second.get(), "x", 1) == 1);
  REQUIRE(::write(two.second.get(), "x", 1) == 1);

  poller.run_once(milliseconds(1'000));
  CHECK(calls == 1);
  CHECK(later_calls == 0);
  poller.run_once(milliseconds(1'000));
  CHECK(later_calls == 2);
  poller.forget(first);
  poller.forget(second);
}

TEST_CASE("timers fire once, in order of their time, unless cancelled") {
  Poller poller;
  std::vector<int> fired;
  const Time start = now();
  const auto after = [&](int ms, int name) {
    return poller.at(start + milliseconds(ms), [&fired, name] { fired.push_back(name); });
  };
  after(3, 3);
  after(1, 1);
  const auto cancelled = after(2, 2);
  poller.cancel(cancelled);
  poller.at(start + milliseconds(4), [&] { poller.cancel(cancelled); });

  CHECK(run_until(poller, [&] { return now() > start + milliseconds(6); }));
  CHECK(fired == std::vector<int>{1, 3});
}

TEST_CASE("what other threads post is done by the poller's thread, each thread's in order") {
  Poller poller;
  std::vector<int> seen[4];
  std::thread::id where;
  int count = 0;
  {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 1'000; ++i) {
          poller.post([&, t, i] {
            seen[t].push_back(i);
            where = std::this_thread::get_id();
            count += 1;
          });
        }
      });
    }
    CHECK(run_until(poller, [&] { return count == 4'000; }));
    for (auto& thread : threads) thread.join();
  }
  CHECK(where == std::this_thread::get_id());
  for (auto& each : seen) CHECK(std::is_sorted(each.begin(), each.end()));
}

TEST_CASE("a loop without anything to do ends when another thread stops it") {
  Poller poller;
  std::promise<std::thread::id> ran;
  std::promise<void> ended;
  std::thread thread([&] {
    poller.post([&] { ran.set_value(std::this_thread::get_id()); });
    poller.run();
    ended.set_value();
  });
  CHECK(ran.get_future().get() == thread.get_id());
  poller.stop();
  CHECK(ended.get_future().wait_for(std::chrono::seconds(100)) == std::future_status::ready);
  thread.join();
}
