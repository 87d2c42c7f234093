#include <doctest/doctest.h>
#include <piracema/window.h>

#include <algorithm>
#include <cereal/types/string.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/engine.h"
#include "base/random.h"
#include "flow/operator_testing.h"

using namespace piracema;
using namespace piracema::flow::testing;
using detail::WindowSlices;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

EventTime at(double second) {
  return EventTime(milliseconds(static_cast<std::int64_t>(1'000 * second)));
}

/// An item of an integer number of seconds.
struct Visit {
  std::int64_t second = 0;
  std::uint64_t key = 0;
};
EventTime when_visited(const Visit& visit) { return EventTime(seconds(visit.second)); }
std::uint64_t visitor_of(const Visit& visit) { return visit.key; }

/// Which seconds it has seen.
struct Seen {
  void operator()(const Visit& visit, std::vector<std::int64_t>& seconds) const {
    seconds.push_back(visit.second);
  }
  void combine(const std::vector<std::int64_t>& more, std::vector<std::int64_t>& into) const {
    into.insert(into.end(), more.begin(), more.end());
  }
};
using Gathered = WindowResult<std::uint64_t, std::vector<std::int64_t>>;

/// One replica of a window.
struct OneWindow : OneReplica<Gathered> {
  template <class Windows>
  explicit OneWindow(Windows windows)
      : OneReplica(window("windows", 1, visitor_of, when_visited, windows, Seen{})) {}

  std::vector<Gathered> come_to(double second) {
    auto found = OneReplica::come_to(at(second));
    CHECK(behind == at(second));
    return found;
  }
  void take(std::vector<Visit> events) { OneReplica::take(events); }
};

/// From, to and the seconds of each, as numbers.
std::vector<std::vector<std::int64_t>> as_rows(const std::vector<Gathered>& results) {
  std::vector<std::vector<std::int64_t>> all;
  for (const Gathered& one : results) {
    const auto second = [](EventTime time) { return time.time_since_epoch() / seconds(1); };
    all.push_back({second(one.from), second(one.to)});
    auto seen = one.value;
    std::sort(seen.begin(), seen.end());
    all.back().insert(all.back().end(), seen.begin(), seen.end());
  }
  return all;
}
using Rows = std::vector<std::vector<std::int64_t>>;

std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a window gives its result when visit time has come to its end, and not before") {
  OneWindow window(tumbling(seconds(10)));
  window.take({{3, 1}, {9, 1}, {10, 1}});
  CHECK(window.come_to(9.999).empty());
  CHECK(as_rows(window.come_to(10)) == Rows{{0, 10, 3, 9}});
  CHECK(window.come_to(19).empty());
  CHECK(as_rows(window.finish()) == Rows{{10, 20, 10}});
}

TEST_CASE(
    "an item of the last moment before a window's end belongs to it, one at the end does not") {
  OneWindow window(tumbling(milliseconds(1'000)));
  window.take({{-1, 1}, {0, 1}});
  CHECK(as_rows(window.come_to(0)) == Rows{{-1, 0, -1}});
  CHECK(as_rows(window.come_to(1)) == Rows{{0, 1, 0}});
}

TEST_CASE("windows that overlap share their items, and stretches without any give no result") {
  OneWindow window(sliding(seconds(10), seconds(5)));
  window.take({{7, 1}, {2, 1}, {41, 1}});
  CHECK(as_rows(window.come_to(60)) ==
        Rows{{-5, 5, 2}, {0, 10, 2, 7}, {5, 15, 7}, {35, 45, 41}, {40, 50, 41}});
  CHECK(window.states->size() == 0);
}

TEST_CASE("an item that comes behind younger ones is in the windows it belongs to") {
  OneWindow window(sliding(seconds(4), seconds(2)));
  window.take({{20, 1}});
  CHECK(window.come_to(9).empty());
  window.take({{9, 1}});
  CHECK(as_rows(window.come_to(13)) == Rows{{6, 10, 9}, {8, 12, 9}});
  CHECK(as_rows(window.finish()) == Rows{{18, 22, 20}, {20, 24, 20}});
}

TEST_CASE("an item that is earlier than what has been counted is an error that says so") {
  OneWindow window(tumbling(seconds(10)));
  window.take({{12, 1}});
  window.come_to(20);
  const std::string why = refusal_of([&] { window.take({{19, 2}}); });
  CHECK(why.find("all before 20000000000 ns") != std::string::npos);
}

TEST_CASE("windows that cannot be, and times that no window holds, are refused in words") {
  CHECK(refusal_of([] { OneWindow window(tumbling(seconds(0))); }).find("found 0 ns every 0 ns") !=
        std::string::npos);
  CHECK(refusal_of([] { OneWindow window(sliding(seconds(10), seconds(3))); }).find("multiple") !=
        std::string::npos);
  OneWindow window(tumbling(seconds(10)));
  CHECK(refusal_of([&] {
          window.take({{9'000'000'000, 1}});
        }).find("from 1700 to 2240") != std::string::npos);
}

TEST_CASE("a key without items in any window takes no room") {
  OneWindow window(tumbling(seconds(10)));
  for (std::uint64_t key = 0; key < 1'000; ++key)
    window.take({{static_cast<std::int64_t>(key % 20), key}});
  CHECK(window.states->size() == 1'000);
  CHECK(window.come_to(10).size() == 500);
  CHECK(window.states->size() == 500);
}

TEST_CASE("many windows are closed bit by bit while items come, and said to be when all are") {
  OneWindow window(tumbling(seconds(10)));
  constexpr std::uint64_t keys = 20'000;
  for (std::uint64_t key = 0; key < keys; ++key) window.take({{5, key}});
  std::set<std::uint64_t> closed;
  std::uint64_t next = 0;
  int calls = 0;
  do {
    const EventTime behind = window.code->advance(at(10), window.out);
    const auto results = window.out.take();
    CHECK(results.size() < 1'000);
    for (const Gathered& one : results) CHECK(closed.insert(one.key).second);
    CHECK((behind == at(10)) == !window.code->is_advancing());
    // Of keys that have been closed, of others, and of new ones.
    for (int i = 0; i < 50; ++i, next += 7) window.take({{15, next % (2 * keys)}});
    calls += 1;
  } while (window.code->is_advancing());
  CHECK(closed.size() == keys);
  CHECK(calls > 20);
  CHECK(window.states->size() == static_cast<std::uint64_t>(50 * calls));
  for (const Gathered& one : window.finish()) CHECK(one.value == std::vector<std::int64_t>{15});
}

TEST_CASE("whatever comes in time, in whatever order, each window has what belongs to it, once") {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    const std::int64_t every = 1 + static_cast<std::int64_t>(random.below(4));
    const std::int64_t size = every * (1 + static_cast<std::int64_t>(random.below(5)));
    OneWindow window(sliding(seconds(size), seconds(every)));
    std::map<std::pair<std::uint64_t, std::int64_t>, std::vector<std::int64_t>> wanted, found;
    std::int64_t come = 0;
    const auto note = [&](const std::vector<Gathered>& results) {
      for (const Gathered& one : results) {
        const auto end = one.to.time_since_epoch() / seconds(1);
        const bool is_new = found.try_emplace({one.key, end}, one.value).second;
        CHECK(is_new);
        CHECK(one.to - one.from == seconds(size));
      }
    };
    for (int item = 0; item < 60; ++item) {
      const Visit visit{come + static_cast<std::int64_t>(random.below(30)), random.below(3)};
      window.take({visit});
      for (std::int64_t end = (visit.second / every + 1) * every; end <= visit.second + size;
           end += every) {
        wanted[{visit.key, end}].push_back(visit.second);
      }
      if (random.chance(0.3)) {
        come += static_cast<std::int64_t>(random.below(8));
        note(window.come_to(static_cast<double>(come)));
      }
    }
    note(window.finish());
    for (auto* all : {&wanted, &found}) {
      for (auto& [window_of, seen] : *all) std::sort(seen.begin(), seen.end());
    }
    CHECK((wanted == found));
  }
}

TEST_CASE("what windows have gathered is as it was after it was saved and loaded") {
  WindowSlices<std::string> slices;
  slices.at(5) = "five";
  slices.at(9) = "nine";
  slices.at(7) = "seven";
  Buffer bytes;
  detail::KeyedWriter(bytes).put(slices);
  detail::KeyedReader in(bytes);
  auto loaded = in.get<WindowSlices<std::string>>();
  CHECK(in.left() == 0);
  std::vector<std::string> closed;
  loaded.close(2, 100, [&](std::int64_t end, const std::string& first, const auto& others) {
    std::string all = std::to_string(end) + ":" + first;
    others([&](const std::string& more) { all += "," + more; });
    closed.push_back(all);
  });
  CHECK(closed ==
        std::vector<std::string>{"6:five", "7:five", "8:seven", "9:seven", "10:nine", "11:nine"});
}

TEST_CASE("slices that are in no order, or of which some are missing, are no state") {
  WindowSlices<std::uint64_t> slices;
  slices.at(5) = 1;
  slices.at(9) = 2;
  Buffer bytes;
  detail::KeyedWriter(bytes).put(slices);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CHECK_THROWS_AS(detail::KeyedReader(Bytes(bytes).first(length)).get<decltype(slices)>(),
                    DecodeError);
  }
  const std::byte highest = std::exchange(bytes.data()[7], std::byte{0x7F});
  for (int i = 0; i < 7; ++i) bytes.data()[i] = std::byte{0xFF};
  CHECK_THROWS_AS(detail::KeyedReader(Bytes(bytes)).get<decltype(slices)>(), DecodeError);
  for (int i = 0; i < 8; ++i) bytes.data()[i] = highest;
  std::swap(bytes.data()[16], bytes.data()[32]);
  CHECK_THROWS_AS(detail::KeyedReader(Bytes(bytes)).get<decltype(slices)>(), DecodeError);
}

TEST_CASE("a result whose key is a text travels whole") {
  const WindowResult<std::string, std::string> result{"key", "", at(10), at(20)};
  Buffer bytes;
  using C = Codec<WindowResult<std::string, std::string>>;
  C::encode(result, bytes);
  const auto found = C::decode(bytes);
  CHECK(found.key == "key");
  CHECK(found.value.empty());
  CHECK((found.from == at(10) && found.time() == at(20) - std::chrono::nanoseconds(1)));
  CHECK_THROWS_AS(C::decode(Bytes(bytes).first(20)), DecodeError);
  CHECK_THROWS_AS(C::decode(Bytes(bytes).first(25)), DecodeError);
}

TEST_CASE("the code of a window is told of its start, as any code") {
  struct Counts {
    std::shared_ptr<std::uint32_t> replica = std::make_shared<std::uint32_t>(0);
    void start(const Context& context) { *replica = context.replica; }
    void operator()(const Visit&, std::uint64_t& count) const { count += 1; }
  } counts;
  auto block = window("w", 1, visitor_of, when_visited, tumbling(seconds(1)), counts);
  block.parts.graph.code[0]()->open({.replica = 3});
  CHECK(*counts.replica == 3);
}

TEST_CASE("what a window gathers is a part of what a snapshot is compared by") {
  struct Narrow {
    void operator()(const Visit&, std::uint32_t& count) const { count += 1; }
  };
  struct Wide {
    void operator()(const Visit&, std::uint64_t& count) const { count += 1; }
  };
  const auto layout = [](auto code) {
    auto block = window("w", 1, visitor_of, when_visited, tumbling(seconds(1)), code);
    return block.parts.graph.code[0]()->layout();
  };
  CHECK(layout(Narrow{}) == "keys(u64, windows(u32) of 1000000000 ns every 1000000000 ns)");
  CHECK(layout(Wide{}) == "keys(u64, windows(u64) of 1000000000 ns every 1000000000 ns)");
}
