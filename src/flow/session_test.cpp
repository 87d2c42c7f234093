#include <doctest/doctest.h>
#include <piracema/window.h>

#include <algorithm>
#include <cereal/types/string.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/testing.h"
#include "flow/operator_testing.h"

using namespace piracema;
using namespace piracema::flow::testing;
using detail::SessionList;
using piracema::testing::contains;
using std::chrono::seconds;

namespace {

EventTime of_second(std::int64_t second) { return EventTime(seconds(second)); }
std::int64_t in_seconds(EventTime time) { return time.time_since_epoch() / seconds(1); }

struct Click {
  std::int64_t second = 0;
  std::uint64_t user = 0;
};
EventTime when_clicked(const Click& click) { return of_second(click.second); }
std::uint64_t user_of(const Click& click) { return click.user; }

/// Which seconds it has seen.
struct Clicks {
  void operator()(const Click& click, std::vector<std::int64_t>& seen) const {
    seen.push_back(click.second);
  }
  void combine(const std::vector<std::int64_t>& more, std::vector<std::int64_t>& into) const {
    into.insert(into.end(), more.begin(), more.end());
  }
};
using Session = WindowResult<std::uint64_t, std::vector<std::int64_t>>;

struct OneSessions : OneReplica<Session> {
  explicit OneSessions(std::chrono::nanoseconds gap)
      : OneReplica(
            window("sessions", 1, user_of, when_clicked, piracema::sessions(gap), Clicks{})) {}
};

/// From, to and the seconds of each, as numbers.
std::vector<std::vector<std::int64_t>> as_numbers(const std::vector<Session>& results) {
  std::vector<std::vector<std::int64_t>> all;
  for (const Session& one : results) {
    all.push_back({in_seconds(one.from), in_seconds(one.to)});
    auto seen = one.value;
    std::sort(seen.begin(), seen.end());
    all.back().insert(all.back().end(), seen.begin(), seen.end());
  }
  return all;
}
using SessionRows = std::vector<std::vector<std::int64_t>>;

std::string error_of_sessions(std::chrono::nanoseconds gap) {
  try {
    OneSessions one(gap);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE(
    "a session lasts while items are less than the gap apart, and ends the gap after the last") {
  OneSessions one(seconds(10));
  one.take<Click>({{0, 1}, {9, 1}, {18, 1}, {28, 1}, {5, 2}});
  CHECK(one.come_to(of_second(14)).empty());
  CHECK(as_numbers(one.come_to(of_second(16))) == SessionRows{{5, 15, 5}});
  CHECK(as_numbers(one.come_to(of_second(28))) == SessionRows{{0, 28, 0, 9, 18}});
  CHECK(as_numbers(one.finish()) == SessionRows{{28, 38, 28}});
}

TEST_CASE("an item between two sessions joins them, and one before a session is of it") {
  OneSessions one(seconds(10));
  one.take<Click>({{0, 1}, {18, 1}});
  one.take<Click>({{9, 1}, {-9, 1}});
  CHECK(as_numbers(one.finish()) == SessionRows{{-9, 28, -9, 0, 9, 18}});
  OneSessions apart(seconds(10));
  apart.take<Click>({{0, 1}, {20, 1}});
  apart.take<Click>({{10, 1}});  // The gap from both.
  CHECK(as_numbers(apart.finish()) == SessionRows{{0, 10, 0}, {10, 20, 10}, {20, 30, 20}});
}

TEST_CASE("event time behind sessions is never later than the last moment of one that is to come") {
  OneSessions one(seconds(80));
  one.take<Click>({{0, 1}});
  one.come_to(of_second(75));
  CHECK(one.behind == of_second(75));
  // All keys are looked at each eighth of the gap.
  CHECK(one.come_to(of_second(84)).empty());
  CHECK(one.behind == of_second(75));
  const auto results = one.come_to(of_second(85));
  REQUIRE(results.size() == 1);
  CHECK(results[0].time() == of_second(80) - EventTime::duration(1));
  CHECK(one.behind == of_second(85));
  CHECK(one.states->size() == 0);
}

TEST_CASE("event time may be as early and as late as any, though items of sessions may not") {
  OneSessions one(seconds(10));
  one.take<Click>({{0, 1}});
  CHECK(one.come_to(no_event_time + seconds(1)).empty());
  CHECK(as_numbers(one.come_to(EventTime::max() - seconds(1))) == SessionRows{{0, 10, 0}});
  CHECK(one.come_to(EventTime::max()).empty());
}

TEST_CASE("an item that is earlier than sessions that were closed is an error that says so") {
  OneSessions one(seconds(10));
  one.take<Click>({{12, 1}});
  one.come_to(of_second(40));
  std::string why;
  try {
    one.take<Click>({{39, 2}});
  } catch (const std::logic_error& error) {
    why = error.what();
  }
  CHECK(contains(why, "comes where all before 40000000000 ns since 1970"));
}

TEST_CASE("gaps that cannot be are refused in words, and another one is another state") {
  CHECK(error_of_sessions(seconds(0)) ==
        "sessions: want a gap above 0, of ten years at most, found 0 ns");
  CHECK(contains(error_of_sessions(std::chrono::hours(24 * 3'654)), "of ten years at most"));
  auto block = window("w", 1, user_of, when_clicked, piracema::sessions(seconds(1)), Clicks{});
  CHECK(block.parts.graph.code[0]()->layout() ==
        "keys(u64, sessions(list(i64)) until 1000000000 ns without items)");
}

TEST_CASE("whatever comes in time, in whatever order, sessions are those of all items in order") {
  Random random(11);
  for (int round = 0; round < 300; ++round) {
    const auto gap = 1 + static_cast<std::int64_t>(random.below(12));
    OneSessions one{seconds(gap)};
    std::map<std::uint64_t, std::vector<std::int64_t>> items;
    SessionRows found;
    std::int64_t come = 0;
    EventTime behind = no_event_time;
    const auto note = [&](const std::vector<Session>& results) {
      for (const Session& result : results) CHECK(result.time() >= behind);
      for (auto& row : as_numbers(results)) found.push_back(std::move(row));
      behind = one.behind;
    };
    for (int item = 0; item < 60; ++item) {
      const Click click{come + static_cast<std::int64_t>(random.below(40)), random.below(3)};
      one.take<Click>({click});
      items[click.user].push_back(click.second);
      if (random.chance(0.3)) {
        come += static_cast<std::int64_t>(random.below(8));
        note(one.come_to(of_second(come)));
      }
    }
    note(one.finish());
    SessionRows wanted;
    for (auto& [user, all] : items) {
      std::sort(all.begin(), all.end());
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (i == 0 || all[i] - all[i - 1] >= gap) wanted.push_back({all[i], 0});
        wanted.back()[1] = all[i] + gap;
        wanted.back().push_back(all[i]);
      }
    }
    std::sort(wanted.begin(), wanted.end());
    std::sort(found.begin(), found.end());
    CHECK((found == wanted));
  }
}

TEST_CASE("what sessions have gathered is as it was after it was saved and loaded") {
  SessionList<std::string> list;
  const auto none = [](std::string&&, std::string&) { FAIL("nothing is to be joined"); };
  list.at(500, 10, none) = "later";
  list.at(-500, 10, none) = "earlier";
  list.at(509, 10, none) += "!";
  Buffer bytes;
  detail::KeyedWriter(bytes).put(list);
  detail::KeyedReader in(bytes);
  auto loaded = in.get<SessionList<std::string>>();
  CHECK(in.left() == 0);
  std::string all;
  loaded.close_all([&](const auto& one) {
    all += std::to_string(one.first) + " to " + std::to_string(one.last) + " " + one.value + "; ";
  });
  CHECK(all == "-500 to -500 earlier; 500 to 509 later!; ");
}

TEST_CASE("sessions that are in no order, of no time, or of which some are missing are no state") {
  const auto bytes_of = [](std::vector<std::uint64_t> numbers) {
    Buffer bytes;
    detail::KeyedWriter out(bytes);
    for (const std::uint64_t number : numbers) out.number(number);
    return bytes;
  };
  const auto read = [](Bytes bytes) {
    return detail::KeyedReader(bytes).get<SessionList<std::uint64_t>>();
  };
  const Buffer right = bytes_of({2, 10, 20, 7, 30, 30, 8});
  CHECK_NOTHROW(read(right));
  for (std::size_t length = 0; length < right.size(); ++length) {
    CHECK_THROWS_AS(read(Bytes(right).first(length)), DecodeError);
  }
  CHECK_THROWS_AS(read(bytes_of({1, 20, 10, 7})), DecodeError);
  CHECK_THROWS_AS(read(bytes_of({2, 10, 20, 7, 20, 30, 8})), DecodeError);
  CHECK_THROWS_AS(read(bytes_of({1, 0, ~std::uint64_t{0} / 2, 7})), DecodeError);
  CHECK_THROWS_AS(read(bytes_of({1, ~std::uint64_t{0} / 2 + 1, 0, 7})), DecodeError);
}
