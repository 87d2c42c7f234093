#include "coll/plan/choice.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "base/random.h"
#include "coll/plan/window_costs.h"

using namespace piracema;
using namespace piracema::coll;

namespace {

/// Seconds of a call of each way, in a window.
struct True {
  double theirs, ours;
};

struct Outcome {
  /// A call, in the mean; and what the better way alone would have taken.
  double took = 0, best = 0;
  Way way = Way::theirs;
};

/// Windows of 16 calls; what a window has cost is known two windows later.
Outcome run(Choice& choice, unsigned windows, const std::function<True(unsigned)>& costs_in,
            double noise = 0) {
  Random random(7);
  Outcome outcome;
  struct Window {
    std::optional<Cost> ours, theirs;
  };
  std::vector<Window> over;
  for (unsigned window = 0; window < windows; ++window) {
    const True truth = costs_in(window);
    const bool trial = choice.try_other();
    Window now;
    for (const bool tried : {true, false}) {
      const unsigned calls = tried ? (trial ? trial_calls : 0) : 16 - (trial ? trial_calls : 0);
      if (calls == 0) continue;
      const Way way = tried ? other(choice.way()) : choice.way();
      const double cost = way == Way::ours ? truth.ours : truth.theirs;
      outcome.took += calls * cost;
      const Cost measured{calls, cost * (1 + noise * (2 * random.unit() - 1))};
      (way == Way::ours ? now.ours : now.theirs) = measured;
    }
    outcome.best += 16 * std::min(truth.ours, truth.theirs);
    over.push_back(now);
    if (window >= 2) choice.on_window(over[window - 2].ours, over[window - 2].theirs);
  }
  outcome.took /= 16 * windows;
  outcome.best /= 16 * windows;
  outcome.way = choice.way();
  return outcome;
}

/// The promise: 20 us a call or 2 %.
bool is_near(const Outcome& outcome) {
  return outcome.took - outcome.best <= std::max(20e-6, 0.02 * outcome.best);
}

}  // namespace

TEST_CASE(
    "whatever the model says, the faster one is found, and the search costs next to nothing") {
  for (const bool ours_pay : {false, true}) {
    for (const True truth : {True{10e-6, 60e-6}, True{500e-6, 100e-6}, True{0.1, 0.02},
                             True{0.02, 0.1}, True{5e-3, 4.9e-3}, True{100e-6, 100e-6}}) {
      CAPTURE(ours_pay);
      CAPTURE(truth.theirs);
      CAPTURE(truth.ours);
      Choice choice;
      choice.expect({.ours = 1e-3, .theirs = ours_pay ? 2e-3 : 1e-3, .ours_pay = ours_pay});
      const auto outcome = run(choice, 4'000, [&](unsigned) { return truth; });
      CHECK(is_near(outcome));
      CHECK(choice.lost() <= std::max(0.02 * choice.spent(), 4'000 * 16 * 20e-6));
    }
  }
}

TEST_CASE("measurements that tremble by a third do not make it err by more than it may") {
  for (const True truth : {True{10e-6, 60e-6}, True{2e-3, 1e-3}, True{1e-3, 2e-3}}) {
    CAPTURE(truth.ours);
    Choice choice;
    choice.expect({.ours = 1e-3, .theirs = 1e-3, .ours_pay = false});
    const auto outcome = run(
        choice, 4'000, [&](unsigned) { return truth; }, 0.33);
    CHECK(is_near(outcome));
    CHECK(outcome.way == (truth.ours < truth.theirs ? Way::ours : Way::theirs));
  }
}

TEST_CASE("a machine that gets busier changes both ways alike, and no mind") {
  Choice choice;
  choice.expect({.ours = 1e-3, .theirs = 1.5e-3, .ours_pay = true});
  run(choice, 500, [](unsigned) { return True{1.5e-3, 1e-3}; });
  REQUIRE(choice.way() == Way::ours);
  const auto outcome = run(choice, 500, [](unsigned window) {
    return True{(1.5e-3 + window * 1e-5), 1e-3 + window * 1e-5};
  });
  CHECK(outcome.way == Way::ours);
}

TEST_CASE("when the model sees the links change, it is believed until it is measured again") {
  Choice choice;
  choice.expect({.ours = 1e-3, .theirs = 1e-3, .ours_pay = false});
  run(choice, 100, [](unsigned) { return True{1e-3, 1.2e-3}; });
  CHECK(choice.way() == Way::theirs);
  choice.expect({.ours = 2e-3, .theirs = 30e-3, .ours_pay = true});
  CHECK(choice.way() == Way::ours);
  // A little more or less is no change.
  choice.expect({.ours = 2.2e-3, .theirs = 28e-3, .ours_pay = true});
  CHECK(choice.way() == Way::ours);
}

TEST_CASE("a few calls are never tried another way") {
  Choice choice;
  choice.expect({.ours = 1e-3, .theirs = 1e-3, .ours_pay = false});
  choice.on_window(std::nullopt, Cost{2, 1e-3});
  choice.on_window(std::nullopt, Cost{8, 1e-3});
  for (int i = 0; i < 20; ++i) CHECK_FALSE(choice.try_other());
}

TEST_CASE("a window's cost is that of the rank that took longest, when all have told") {
  CostsOfAll all(3);
  WindowCosts mine;
  for (int i = 0; i < 4; ++i) mine.add(5, Way::ours, 0.25);
  CHECK_FALSE(all.on_told(*decode_told(mine.encode(7, 100))));
  mine.add(5, Way::ours, 2);
  CHECK_FALSE(all.on_told(*decode_told(mine.encode(7, 100))));
  mine.clear();
  mine.add(6, Way::theirs, 9);
  // Another window comes between.
  CHECK_FALSE(all.on_told(*decode_told(mine.encode(8, 116))));
  const auto costs = all.on_told(*decode_told(mine.encode(7, 100)));
  REQUIRE(costs);
  CHECK(costs->at(5)[1]->seconds == doctest::Approx(0.6));
  CHECK(costs->at(5)[1]->calls == 5);
  CHECK_FALSE(costs->at(5)[0]);
  CHECK(costs->at(6)[0]->seconds == doctest::Approx(9));
}

TEST_CASE("bytes that tell no costs are refused") {
  WindowCosts costs;
  costs.add(31, Way::ours, 1);
  const auto good = costs.encode(1, 2);
  REQUIRE(decode_told(good).ok());
  CHECK(decode_told(good)->operation == 2);
  for (std::size_t length = 0; length < good.size(); ++length) {
    if (length != 8) CHECK_FALSE(decode_told(std::span(good).first(length)).ok());
  }
  Random random(3);
  for (int i = 0; i < 5'000; ++i) {
    auto bad = good;
    bad[8 + random.below(16)] = static_cast<char>(random.next());
    const auto told = decode_told(bad);
    if (told.ok()) CHECK(told->entries.front().call_class < call_classes);
  }
}
