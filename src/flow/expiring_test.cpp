#include <doctest/doctest.h>
#include <piracema/blocks.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "flow/keyed_testing.h"

using namespace piracema;
using namespace piracema::flow::testing;
using detail::ExpiringTable;
using std::chrono::milliseconds;

namespace {

/// The clock is the test's. 1,000 ms to live.
struct Table : ExpiringTable<std::int64_t, std::string> {
  explicit Table(const milliseconds& time) {
    own(sixteen, {0, sixteen.count()});
    expire_after(milliseconds(1'000), [&time] { return WallTime(time); });
  }
  const std::string* look(std::int64_t key) {
    tick();
    return find(key, mixed(key));
  }
  std::string& change(std::int64_t key) {
    tick();
    return edit(key, mixed(key));
  }
};

/// So large that a piece of a table has few of them.
struct LargeState {
  std::array<char, 2'500> bytes{};
};

/// What the runtime calls, and the code's own clock.
struct CountForAWhile {
  milliseconds state_ttl() const { return milliseconds(ttl); }
  std::int64_t operator()(const std::int64_t&, std::int64_t& count) { return ++count; }
  std::int64_t ttl = 1'000;
};

}  // namespace

TEST_CASE("a state is there until nobody has changed it for its time to live") {
  milliseconds time(50'000);
  Table table(time);
  table.change(1) = "one";
  time += milliseconds(999);
  REQUIRE(table.look(1) != nullptr);  // To look does not make it younger.
  time += milliseconds(1);
  CHECK(table.look(1) == nullptr);
  CHECK(table.change(1).empty());
  table.change(1) = "anew";
  time += milliseconds(600);
  table.change(1) += "!";
  time += milliseconds(600);
  REQUIRE(table.look(1) != nullptr);
  CHECK(*table.look(1) == "anew!");
  time -= milliseconds(5'000);  // A clock that is set back makes nothing older or younger.
  CHECK(*table.look(1) == "anew!");
}

TEST_CASE("whatever comes, goes and is restored, what is seen is what is young enough") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    milliseconds time(1'000'000);
    auto table = std::make_unique<Table>(time);
    std::map<std::int64_t, std::pair<milliseconds, std::string>> model;
    const auto young = [&](std::int64_t key) {
      const auto found = model.find(key);
      return found != model.end() && time - found->second.first < milliseconds(1'000)
                 ? &found->second
                 : nullptr;
    };
    for (int i = 0; i < 5'000; ++i) {
      time += milliseconds(random.below(20));
      const auto key = static_cast<std::int64_t>(random.below(300));
      if (random.chance(0.4)) {
        const auto* mine = young(key);
        const std::string text = (mine != nullptr ? mine->second : "") + "x";
        table->change(key) += "x";
        model[key] = {time, text};
      } else if (random.chance(0.1)) {
        table->tick();
        table->erase(key, mixed(key));
        model.erase(key);
      } else if (random.chance(0.01)) {
        Record all(1);
        table->begin_cut(all);
        // Others write, and what is over goes, while it is saved.
        for (int n = 0; n < 200; ++n) table->tick();
        while (table->save_next()) {
        }
        table->end_cut();
        auto restored = std::make_unique<Table>(time);
        replay(*restored, all);
        table = std::move(restored);
      }
      const auto* theirs = table->look(key);
      const auto* mine = young(key);
      REQUIRE((theirs == nullptr) == (mine == nullptr));
      if (mine != nullptr) REQUIRE(*theirs == mine->second);
    }
    std::map<std::int64_t, std::string> seen, wanted;
    table->for_each([&](const std::int64_t& key, std::string& value) { seen[key] = value; });
    for (const auto& [key, one] : model) {
      if (young(key) != nullptr) wanted[key] = one.second;
    }
    CHECK(seen == wanted);
  }
}

TEST_CASE("memory of keys that nobody asks for is given back while others come") {
  milliseconds time(1'000'000);
  Table table(time);
  for (std::int64_t key = 0; key < 10'000; ++key) table.change(key) = "here once";
  CHECK(table.size() == 10'000);
  time += milliseconds(1'000);
  for (int i = 0; i < 10'000; ++i) table.change(-1) = "here always";
  CHECK(table.size() == 1);
}

TEST_CASE("a table of large states has little more than what lives where each item brings a key") {
  milliseconds time(1'000'000);
  ExpiringTable<std::int64_t, LargeState> table;
  table.own(sixteen, {0, sixteen.count()});
  table.expire_after(milliseconds(1'000), [&time] { return WallTime(time); });
  std::uint64_t most = 0;
  for (std::int64_t key = 0; key < 20'000; ++key) {
    time += milliseconds(1);  // A thousand live at a time.
    table.tick();
    table.edit(key, mixed(key));
    most = std::max(most, table.size());
  }
  CHECK(most < 4'000);
}

TEST_CASE("code says how long the state of a key lives, and a snapshot that it has a time") {
  const Graph graph = pipeline(
      source("numbers",
             [i = std::int64_t{0}]() mutable -> std::optional<std::int64_t> {
               return i < 10 ? std::optional(i++) : std::nullopt;
             }),
      farm("count", 2, CountForAWhile{}).by_key([](const std::int64_t& i) { return i % 3; }),
      sink("drop", [](const std::int64_t&) {}));
  const auto count = graph.code[1]();
  CHECK(count->layout() == "keys(i64, i64 with its time)");
  REQUIRE(count->keyed_states(nullptr) != nullptr);
  CHECK_NOTHROW(count->open({}));
}

TEST_CASE("a time to live that is none is refused") {
  using Op = detail::BlockNode<
      CountForAWhile, std::int64_t, std::int64_t,
      detail::Keyed<CountForAWhile, std::int64_t, std::int64_t (*)(const std::int64_t&)>>;
  Op op(CountForAWhile{0}, [](const std::int64_t& i) { return i; });
  CHECK_THROWS_WITH(op.open({}), "state_ttl(): want a time of at least 1 ms, found 0 ms");
}
