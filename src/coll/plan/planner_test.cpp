#include "coll/plan/planner.h"

#include <doctest/doctest.h>

#include "topology/measure/guess.h"
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

TEST_CASE("links between sites are worth a trial, as far as the model knows, and no more") {
  Planner planner(Engine::automatic, 24);
  const LinkTable links = guessed(testing::paper_links());
  CHECK(expected_of(links, 64).ours_pay);
  planner.on_links(links, {});
  // The MPI library's own is measured first.
  const Plan plan = planner.next(Time{});
  CHECK(plan.ours.none());
  CHECK(plan.trial.none());
}

TEST_CASE("links that are as near but not as fast are worth a tree for large messages alone") {
  LinkTable links(8, {0.1e-3, 1e-9});
  for (Rank rank = 0; rank < 4; ++rank) links.set_both(rank, 7 - rank, {0.1e-3, 100e-9});
  CHECK_FALSE(expected_of(links, 64).ours_pay);
  CHECK(expected_of(links, 4e6).ours_pay);
}

TEST_CASE("what all ranks measure decides, whatever the model says") {
  for (const double ours : {1e-3, 50e-3}) {
    Planner planner(Engine::automatic, 3);
    LinkTable links(3, {1e-3, 0});
    links.set_both(0, 1, {30e-3, 0});
    planner.on_links(guessed(links), {});
    const unsigned small = class_of(Call::broadcast, 8);
    bool tried = false;
    // A window's costs are told when it is over.
    for (std::uint32_t window = 1; window < 40; ++window) {
      const Plan plan = planner.next(Time(milliseconds(window)));
      const Way way = plan.ours[small] ? Way::ours : Way::theirs;
      tried = tried || plan.trial[small];
      for (Rank rank = 0; rank < 3; ++rank) {
        const auto cost = [&](Way of) { return of == Way::ours ? ours : 10e-3; };
        Told all = told(window, way, cost(way));
        if (plan.trial[small]) {
          all.entries.front().cost.calls = 16 - trial_calls;
          all.entries.push_back({small, other(way), {trial_calls, cost(other(way))}});
        }
        planner.on_told(all);
      }
    }
    CHECK(tried);
    CHECK(planner.choice(small).way() == (ours < 10e-3 ? Way::ours : Way::theirs));
  }
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
