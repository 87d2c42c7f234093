#include "coll/plan/choice.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "base/random.h"
#include "coll/plan/planner.h"
#include "coll/plan/window_costs.h"
#include "topology/measure/guess.h"

using namespace piracema;
using namespace piracema::coll;

namespace {

/// Seconds of a call of each way, in a window.
struct True {
  double theirs, ours;
};

struct Outcome {
  /// All calls together: as they went, the MPI library's own alone, and the better way alone.
  double took = 0, bare = 0, best = 0;
  /// The one of ours that took longest.
  double longest = 0;
  /// Calls before the first one of ours.
  unsigned before_ours = 0;
  Way way = Way::theirs;
  /// The promise: a share of the time, and one call.
  bool is_bounded(double share = Choice::loss_share_max) const {
    return took - longest - bare <= share * took;
  }
};

struct Noise {
  /// Each call takes so much more or less; one in many takes five times as long.
  double share = 0;
  /// The first call of ours takes so many times as long.
  double cold = 1;
  std::uint64_t seed = 7;
};

/// Windows as a communicator has them: short at first; what one has cost is known when the second
/// after it begins, and the plan that is made then is for the next.
Outcome run(Choice& choice, unsigned windows, const std::function<True(unsigned)>& costs_in,
            const Noise& noise = {}) {
  Random random(noise.seed);
  Outcome outcome;
  struct Window {
    std::optional<Cost> ours, theirs;
  };
  struct Planned {
    Way way;
    bool trial;
    unsigned length;
  };
  std::vector<Window> over;
  std::vector<Planned> plans{{Way::theirs, false, 2}};
  unsigned calls_of_ours = 0, calls = 0;
  for (unsigned window = 0; window < windows; ++window) {
    if (window >= 2) choice.on_window(over[window - 2].ours, over[window - 2].theirs);
    const bool trial = choice.try_other();
    plans.push_back({choice.way(), trial, std::min(16u, 2 * plans.back().length)});
    const Planned& plan = plans[window];
    const True truth = costs_in(window);
    Cost ours, theirs;
    for (unsigned call = 0; call < plan.length; ++call) {
      const bool tried = plan.trial && call < trial_calls;
      const bool is_ours = (tried ? other(plan.way) : plan.way) == Way::ours;
      double factor = 1 + noise.share * (2 * random.unit() - 1);
      if (random.unit() < noise.share / 20) factor *= 5;
      const bool cold = is_ours && calls_of_ours == 0;
      const double took = factor * (is_ours ? truth.ours : truth.theirs) * (cold ? noise.cold : 1);
      outcome.took += took;
      outcome.bare += factor * truth.theirs;
      outcome.best += factor * std::min(truth.theirs, truth.ours);
      Cost& cost = is_ours ? ours : theirs;
      cost.calls += 1;
      cost.seconds += took;
      if (is_ours) outcome.longest = std::max(outcome.longest, took);
      if (is_ours && calls_of_ours++ == 0) outcome.before_ours = calls;
      calls += 1;
    }
    Window now;
    if (ours.calls > 0) now.ours = Cost{ours.calls, ours.seconds / ours.calls};
    if (theirs.calls > 0) now.theirs = Cost{theirs.calls, theirs.seconds / theirs.calls};
    over.push_back(now);
  }
  outcome.way = choice.way();
  return outcome;
}

Expected opinion(bool ours_pay, double theirs = 1e-3) {
  return {.ours = ours_pay ? theirs / 2 : theirs, .theirs = theirs, .ours_pay = ours_pay};
}

}  // namespace

TEST_CASE(
    "no program takes more than the share it may lose and one call, whatever its calls cost") {
  for (const unsigned windows : {1u, 6u, 10u, 30u, 300u, 3'000u}) {
    for (const bool ours_pay : {false, true}) {
      for (const double scale : {10e-6, 1e-3, 0.1}) {
        for (const double cold : {1.0, 4.0, 50.0}) {
          for (const double ratio : {0.02, 0.3, 0.5, 0.68, 0.9, 0.97, 1.0, 1.03, 1.1, 1.37, 1.5,
                                     1.9, 2.5, 5.0, 20.0, 300.0}) {
            CAPTURE(windows);
            CAPTURE(ours_pay);
            CAPTURE(scale);
            CAPTURE(cold);
            CAPTURE(ratio);
            Choice choice;
            choice.expect(opinion(ours_pay, scale));
            const auto outcome = run(choice, windows,
                                     [&](unsigned) {
                                       return True{scale, ratio * scale};
                                     },
                                     {.cold = cold});
            CHECK(outcome.is_bounded());
          }
        }
      }
    }
  }
}

TEST_CASE("what was measured on six hosts loses no more than the bound, where the model erred") {
  // Ours by theirs: allreduces of 64 KiB and 8 B, a broadcast of 1 MiB, streams of small ones.
  for (const double ratio : {1.90, 1.37, 1.5, 1.6}) {
    CAPTURE(ratio);
    Choice choice;
    choice.expect(opinion(true, 80e-3));
    const auto outcome = run(choice, 8, [&](unsigned) { return True{80e-3, ratio * 80e-3}; });
    CHECK(outcome.is_bounded());
    // 60 calls and more: the one call does not matter either.
    CHECK(outcome.took <= 1.05 * outcome.bare);
  }
  // An allreduce of 1 MiB, where ours are better, is found to be so.
  Choice choice;
  choice.expect(opinion(true, 80e-3));
  const auto outcome = run(choice, 60, [](unsigned) { return True{80e-3, 0.68 * 80e-3}; });
  CHECK(outcome.way == Way::ours);
  CHECK(outcome.took <= 0.8 * outcome.bare);
}

TEST_CASE("on random networks the bound holds, by what the model says of them") {
  Random random(5);
  for (int network = 0; network < 60; ++network) {
    CAPTURE(network);
    const auto size = static_cast<Rank>(3 + random.below(14));
    LinkTable links(size);
    for (Rank a = 0; a < size; ++a) {
      for (Rank b = 0; b < a; ++b) {
        const bool far = a % 3 != b % 3;
        links.set_both(a, b, {(far ? 5e-3 : 0.1e-3) * (1 + 9 * random.unit()), 0});
      }
    }
    guess_bandwidth(links);
    const double bytes = random.below(2) == 0 ? 64 : 400'000;
    const Expected expected = expected_of(links, bytes);
    // What the MPI library really does the model does not know.
    const double theirs = expected.theirs * (0.2 + 1.2 * random.unit());
    Choice choice;
    choice.expect(expected);
    const auto outcome = run(choice, 400, [&](unsigned) { return True{theirs, expected.ours}; });
    CHECK(outcome.is_bounded());
    CHECK(outcome.took <= 1.25 * outcome.best + outcome.longest);
  }
}

TEST_CASE("measurements that tremble by a third do not make it err by much more") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const double ratio : {0.1, 0.5, 0.9, 1.1, 2.0, 6.0}) {
      CAPTURE(seed);
      CAPTURE(ratio);
      Choice choice;
      choice.expect(opinion(true));
      const auto outcome = run(choice, 1'000,
                               [&](unsigned) {
                                 return True{1e-3, ratio * 1e-3};
                               },
                               {.share = 0.33, .cold = 3, .seed = seed});
      CHECK(outcome.is_bounded(2 * Choice::loss_share_max));
      if (ratio <= 0.5 || ratio >= 2) {
        CHECK(outcome.way == (ratio < 1 ? Way::ours : Way::theirs));
      }
    }
  }
}

TEST_CASE("the MPI library's own is measured first") {
  Choice choice;
  choice.expect(opinion(true));
  CHECK(choice.way() == Way::theirs);
  for (int window = 0; window < 20; ++window) CHECK_FALSE(choice.try_other());
  choice.on_window(std::nullopt, Cost{2, 1e-3});
  CHECK(choice.try_other());
}

TEST_CASE("a first pair that differs by more than a factor of two decides") {
  for (const double ratio : {0.4, 3.0}) {
    Choice choice;
    choice.expect(opinion(true));
    choice.on_window(std::nullopt, Cost{4, 10e-3});
    REQUIRE(choice.try_other());
    choice.on_window(Cost{1, ratio * 10e-3}, Cost{7, 10e-3});
    CHECK(choice.way() == (ratio < 1 ? Way::ours : Way::theirs));
    CHECK_FALSE(choice.try_other());
  }
}

TEST_CASE("one cold call of ours does not decide for good") {
  Choice choice;
  choice.expect(opinion(true));
  const auto outcome = run(choice, 200, [](unsigned) { return True{1e-3, 0.3e-3}; }, {.cold = 10});
  CHECK(outcome.way == Way::ours);
}

TEST_CASE("evidence is time: calls that take long decide in as few windows as short ones") {
  for (const double scale : {20e-6, 0.5}) {
    Choice choice;
    choice.expect(opinion(true, scale));
    const auto outcome = run(choice, 12, [&](unsigned) { return True{scale, 0.3 * scale}; });
    CHECK(outcome.way == Way::ours);
    CHECK(outcome.before_ours <= 32);
  }
}

TEST_CASE("a machine that gets busier changes both ways alike, and no mind") {
  Choice choice;
  choice.expect(opinion(true));
  run(choice, 500, [](unsigned) { return True{1.5e-3, 1e-3}; });
  REQUIRE(choice.way() == Way::ours);
  const auto outcome = run(choice, 500, [](unsigned window) {
    return True{1.5e-3 + window * 1e-5, 1e-3 + window * 1e-5};
  });
  CHECK(outcome.way == Way::ours);
}

TEST_CASE("ours that become slow are left after as many windows as it takes to hear of it") {
  Choice choice;
  choice.expect(opinion(true));
  const auto costs = [](unsigned window) { return True{1e-3, window < 400 ? 0.5e-3 : 10e-3}; };
  const auto outcome = run(choice, 2'000, costs);
  CHECK(outcome.way == Way::theirs);
  // The windows that were under way, and then the bound.
  CHECK(outcome.took - 6 * 16 * 10e-3 <= (1 + Choice::loss_share_max) * outcome.bare);
}

TEST_CASE("a model that trembles throws no evidence away") {
  Choice choice;
  choice.expect(opinion(true));
  Outcome outcome;
  const auto costs = [&](unsigned window) {
    choice.expect(opinion(window % 2 == 0));
    return True{1e-3, 1.9e-3};
  };
  outcome = run(choice, 2'000, costs);
  CHECK(outcome.is_bounded());
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
