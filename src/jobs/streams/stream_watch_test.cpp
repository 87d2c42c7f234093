#include "jobs/streams/stream_watch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace piracema;
using namespace piracema::jobs;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// A node and its streams, which answer at once unless they are told to be silent.
struct World {
  StreamWatch watch;
  Time now{seconds(100)};
  std::vector<Attempt> looks;
  std::vector<StreamSight> told;
  std::vector<Time> told_at;
  std::size_t under_way = 0, most_under_way = 0;
  std::string why;
  bool is_silent = false, is_watched = false, is_reached = true;

  void say(const StreamWatch::Event& event) {
    for (const auto& action : watch.step(now, event)) {
      if (const auto* look = std::get_if<StreamWatch::Look>(&action)) {
        looks.push_back(look->attempt);
        under_way += 1;
        most_under_way = std::max(most_under_way, under_way);
        if (!is_silent) answer(look->attempt);
      } else {
        const auto& tell = std::get<StreamWatch::Tell>(action);
        told.insert(told.end(), tell.sights.begin(), tell.sights.end());
        told_at.push_back(now);
        say(StreamWatch::Told{is_reached ? std::optional(is_watched) : std::nullopt});
      }
    }
  }
  void answer(const Attempt& attempt, bool is_late = false) {
    under_way -= 1;
    say(StreamWatch::Seen{{.attempt = attempt, .why = why}, is_late});
  }
  void pass(Time time) {
    const Time until = now + time;
    while (watch.next_deadline() && *watch.next_deadline() <= until) {
      now = std::max(now, *watch.next_deadline());
      say(StreamWatch::Woken{});
    }
    now = until;
  }
};

}  // namespace

TEST_CASE("a node without jobs has nothing to wake up for") {
  World world;
  CHECK_FALSE(world.watch.next_deadline());
  world.say(StreamWatch::Began{{7, 1}});
  CHECK(world.watch.next_deadline());
  world.say(StreamWatch::Gone{{7, 1}});
  CHECK_FALSE(world.watch.next_deadline());
  world.pass(seconds(60));
  CHECK(world.looks.empty());
}

TEST_CASE("a stream is looked at every five seconds, and every second while somebody asks") {
  World world;
  world.say(StreamWatch::Began{{7, 1}});
  world.pass(seconds(1));
  CHECK(world.told.size() == 1);
  world.pass(seconds(20));
  CHECK(world.told.size() == 5);
  // The next answer says so.
  world.is_watched = true;
  world.pass(seconds(5));
  world.told.clear();
  world.pass(seconds(10));
  CHECK(world.told.size() == 10);
  world.is_watched = false;
  world.pass(seconds(1));
  world.told.clear();
  world.pass(seconds(10));
  CHECK(world.told.size() == 2);
}

TEST_CASE("of many streams a few are looked at a time, and what was seen is told together") {
  World world;
  world.is_watched = true;
  for (JobId job = 1; job <= 100; ++job) world.say(StreamWatch::Began{{job, 1}});
  world.is_silent = true;
  world.pass(seconds(1));
  CHECK(world.looks.size() == 1);
  world.pass(seconds(1));
  CHECK(world.most_under_way == StreamWatch::looks_max);
  CHECK(world.looks.size() == StreamWatch::looks_max);
  world.is_silent = false;
  const std::vector<Attempt> first = world.looks;
  for (const Attempt& attempt : first) world.answer(attempt);
  world.told_at.clear();
  world.pass(seconds(10));
  // All of them in their turn, and no message for each.
  CHECK(std::set<Attempt>(world.looks.begin(), world.looks.end()).size() == 100);
  CHECK(world.looks.size() <= 100 + seconds(12) / StreamWatch::least_gap);
  CHECK(world.told_at.size() <= seconds(10) / StreamWatch::tell_gap + 1);
}

TEST_CASE("a stream that does not answer is asked seldom, and holds up no other") {
  World world;
  world.is_watched = true;
  world.say(StreamWatch::Began{{1, 1}});
  world.pass(seconds(1));
  world.is_silent = true;
  world.pass(seconds(1));
  world.is_silent = false;
  world.answer({1, 1}, true);
  world.say(StreamWatch::Began{{2, 1}});
  world.looks.clear();
  world.pass(seconds(9));
  CHECK(std::count(world.looks.begin(), world.looks.end(), Attempt{1, 1}) == 0);
  CHECK(std::count(world.looks.begin(), world.looks.end(), Attempt{2, 1}) == 9);
  world.pass(seconds(2));
  CHECK(std::count(world.looks.begin(), world.looks.end(), Attempt{1, 1}) >= 1);
}

TEST_CASE("that a job shows no stream is not told again and again") {
  World world;
  world.why = shows_no_stream;
  world.is_watched = true;
  world.say(StreamWatch::Began{{7, 1}});
  world.pass(seconds(29));
  CHECK(world.told.size() == 1);
  world.pass(seconds(3));
  CHECK(world.told.size() == 2);
  // It was one that had not begun.
  world.why.clear();
  world.pass(seconds(2));
  CHECK(world.told.size() == 4);
}

TEST_CASE("a stream that takes some seconds to begin is seen at once then") {
  World world;
  world.why = shows_no_stream;
  world.say(StreamWatch::Began{{7, 1}});
  world.pass(seconds(4));
  CHECK(world.looks.size() == 4);
  world.why.clear();
  world.told.clear();
  world.pass(seconds(1));
  REQUIRE(world.told.size() == 1);
  CHECK(world.told[0].why.empty());
  // One that never shows any is not looked at that often for good.
  world.why = shows_no_stream;
  world.pass(seconds(20));
  world.looks.clear();
  world.pass(seconds(20));
  CHECK(world.looks.size() == 4);
}

TEST_CASE("what nobody took is not told later, and what is seen then is") {
  World world;
  world.why = shows_no_stream;
  world.is_reached = false;
  world.say(StreamWatch::Began{{7, 1}});
  world.pass(seconds(11));
  const std::size_t in_vain = world.told.size();
  CHECK(in_vain >= 10);
  world.is_reached = true;
  world.pass(seconds(5));
  CHECK(world.told.size() == in_vain + 1);
  world.pass(seconds(20));
  CHECK(world.told.size() == in_vain + 1);
}

TEST_CASE("an attempt that is over while it is looked at is not told of") {
  World world;
  world.is_silent = true;
  world.say(StreamWatch::Began{{7, 1}});
  world.pass(seconds(2));
  CHECK(world.looks.size() == 1);
  world.say(StreamWatch::Gone{{7, 1}});
  world.answer({7, 1});
  world.pass(seconds(10));
  CHECK(world.told.empty());
  CHECK_FALSE(world.watch.next_deadline());
}
