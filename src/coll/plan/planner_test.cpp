#include "coll/plan/planner.h"

#include <doctest/doctest.h>

#include "topology/trees/testing.h"

using namespace piracema;
using namespace piracema::coll;
using std::chrono::microseconds;
using std::chrono::milliseconds;

namespace {

LinkTable guessed(LinkTable links) {
  guess_bandwidth(links);
  return links;
}

/// What every rank tells of a window in which it has called 16 broadcasts.
Told told(std::uint32_t window, Way way, double seconds) {
  return {window, 16 * window, {{class_of(Call::broadcast, 8), way, {16, seconds}}}};
}

}  // namespace

TEST_CASE("uniform links leave the MPI library's own collectives alone") {
  for (const double latency : {0.5e-6, 50e-6, 10e-3}) {
    Planner planner(Engine::automatic, 16);
    planner.on_links(guessed(LinkTable(16, {latency, 0})), {});
    CHECK(planner.next(Time{}).ours.none());
  }
}

TEST_CASE("links between sites are worth a tree, as far as the model knows") {
  Planner planner(Engine::automatic, 24);
  planner.on_links(guessed(testing::paper_links()), {});
  CHECK(planner.next(Time{}).ours.all());
}

TEST_CASE("links that are as near but not as fast are worth a tree for large messages alone") {
  LinkTable links(8, {0.1e-3, 1e-9});
  for (Rank rank = 0; rank < 4; ++rank) links.set_both(rank, 7 - rank, {0.1e-3, 100e-9});
  Planner planner(Engine::automatic, 8);
  planner.on_links(links, {});
  const Plan plan = planner.next(Time{});
  CHECK_FALSE(plan.ours[class_of(Call::broadcast, 8)]);
  CHECK(plan.ours[class_of(Call::broadcast, 10'000'000)]);
}

TEST_CASE("what all ranks measure overrules the model") {
  Planner planner(Engine::automatic, 3);
  LinkTable links(3, {1e-3, 0});
  links.set_both(0, 1, {30e-3, 0});
  planner.on_links(guessed(links), {});
  const unsigned small = class_of(Call::broadcast, 8);
  REQUIRE(planner.choice(small).way() == Way::ours);
  // Theirs is much faster; trials find it. A window's costs are told when it is over.
  for (std::uint32_t window = 1; window < 400 && planner.choice(small).way() == Way::ours;
       ++window) {
    const Plan plan = planner.next(Time(milliseconds(window)));
    for (Rank rank = 0; rank < 3; ++rank) {
      Told all = told(window, Way::ours, 10e-3);
      if (plan.trial[small]) {
        all.entries.front().cost.calls = 12;
        all.entries.push_back({small, Way::theirs, {4, 1e-3}});
      }
      planner.on_told(all);
    }
  }
  CHECK(planner.choice(small).way() == Way::theirs);
}

TEST_CASE("what calls have taken is summed up by way, at the slowest rank of each window") {
  constexpr unsigned small = class_of(Call::broadcast, 64);
  Planner planner(Engine::automatic, 2);
  for (std::uint32_t window = 1; window <= 3; ++window) {
    planner.on_told({window, 0, {{small, Way::ours, {10, 1e-3}}}});
    CHECK(planner.spent().total(small, Way::ours).calls == 10 * (window - 1));
    planner.on_told({window, 0, {{small, Way::ours, {10, 2e-3}}}});
  }
  CHECK(planner.spent().total(small, Way::ours).calls == 30);
  CHECK(planner.spent().total(small, Way::ours).seconds == doctest::Approx(0.06));
  CHECK(planner.spent().total(small, Way::theirs).calls == 0);
}

TEST_CASE("windows are short at first, and then as long as plans cost nothing") {
  Planner planner(Engine::tree, 4);
  Time now{};
  std::vector<std::uint32_t> lengths;
  std::uint32_t length = first_plan(Engine::tree, 4).length, next = length;
  for (int window = 0; window < 40; ++window) {
    next = planner.next(now).length;
    now += microseconds(5) * length;
    lengths.push_back(length);
    length = next;
  }
  CHECK(std::vector(lengths.begin(), lengths.begin() + 5) ==
        std::vector<std::uint32_t>{2, 2, 4, 8, 16});
  CHECK(length == window_operations_max);
  // Operations that take long make windows short again: links are looked at often.
  for (int window = 0; window < 4; ++window) {
    next = planner.next(now).length;
    now += milliseconds(5) * length;
    length = next;
  }
  CHECK(length == 16);
}

TEST_CASE("trees for what comes up have another version when they are others") {
  Planner planner(Engine::tree, 24);
  CHECK(planner.trees().version == 0);
  const LinkTable links = guessed(testing::paper_links());
  planner.on_links(links, {});
  const std::uint32_t first = planner.trees().version;
  CHECK(first > 0);
  planner.on_links(links, {});
  CHECK(planner.trees().version == first);
  planner.on_links(guessed(testing::paper_links_after_changes()), {});
  CHECK(planner.trees().version > first);
  CHECK(planner.next(Time{}).version == planner.trees().version);
}
