#include "forecast/store/sampling.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/random.h"
#include "forecast/store/store_trace.h"

namespace piracema::ckpt {

namespace {

constexpr double length = 300;

/// What came of one window, lived through second by second.
struct Lived {
  std::vector<double> begun, bytes;
  Plan last;
  bool still_wanted = false;
};

/// A store that writes `rate` bytes a second, or never answers if that is 0, known to `predictor`.
Lived live(Sampling& sampling, Predictor& predictor, double rate, double job_bytes,
           double opens = 0, bool has_room = true) {
  Lived lived;
  double ends = 0;
  DumpFeatures sample;
  const auto at = [](double seconds) {
    return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
  };
  bool under_way = false, refused = false;
  for (double second = 0; second < length; second += 1) {
    if (under_way && rate > 0 && second >= ends) {
      under_way = false;
      refused = !has_room;
      if (has_room) predictor.learn(sample, 0.02 + sample.bytes / rate);
    }
    lived.last = plan_dump({}, length, length - second, predictor.forecast({.bytes = job_bytes}));
    const auto asked = sampling.step({.time = at(opens + second),
                                      .closes = at(opens + length),
                                      .length = length,
                                      .plan = lived.last,
                                      .job_bytes = job_bytes,
                                      .learnt = predictor.learnt(),
                                      .under_way = under_way,
                                      .refused = refused});
    if (!asked) continue;
    CHECK_FALSE(under_way);
    under_way = true;
    sample = {.bytes = *asked, .sample = 1};
    ends = second + (rate > 0 ? *asked / rate : 0);
    lived.begun.push_back(second);
    lived.bytes.push_back(*asked);
  }
  lived.still_wanted = sampling.wanted();
  return lived;
}

Predictor one_that_knows(double rate) {
  Predictor predictor;
  Random random(1);
  for (int i = 0; i < 60; ++i) {
    const double bytes = 50e6 + random.unit() * 1e9;
    predictor.learn({.bytes = bytes}, 0.1 + bytes / rate);
  }
  return predictor;
}

}  // namespace

TEST_CASE("samples are few, bounded, apart, and in a window's first half") {
  for (const double rate : {2e6, 20e6, 100e6}) {
    CAPTURE(rate);
    Predictor predictor;
    Sampling sampling;
    const Lived lived = live(sampling, predictor, rate, 1e9);
    REQUIRE_FALSE(lived.begun.empty());
    CHECK(lived.begun.size() <= SamplingSettings().most);
    CHECK(lived.begun.back() <= length / 2);
    for (const double bytes : lived.bytes) CHECK(bytes == 64e6);
    for (std::size_t i = 1; i < lived.begun.size(); ++i) {
      const double took = 64e6 / rate;
      CHECK(lived.begun[i] - lived.begun[i - 1] >= took + std::max(2.0, 4 * took));
    }
    CHECK_FALSE(lived.still_wanted);
  }
}

TEST_CASE("a small job is not sampled for, and a smaller one with an eighth of its memory") {
  Predictor predictor;
  Sampling sampling;
  CHECK(live(sampling, predictor, 20e6, 50e6).begun.empty());
  const Lived lived = live(sampling, predictor, 20e6, 240e6, 1000);
  REQUIRE_FALSE(lived.begun.empty());
  CHECK(lived.bytes.front() == 30e6);
}

TEST_CASE("a store that is known is not sampled") {
  Predictor predictor = one_that_knows(100e6);
  Sampling sampling;
  CHECK(live(sampling, predictor, 100e6, 1e9).begun.empty());
}

TEST_CASE("of a store that nobody has used two are written even for a job that is saved soon") {
  Predictor predictor;
  Sampling sampling;
  CHECK(plan_dump({}, length, length, predictor.forecast({.bytes = 100e6})).used > 0.9);
  CHECK(live(sampling, predictor, 100e6, 100e6).begun.size() == 2);
}

TEST_CASE("samples show that a store is slower than was guessed") {
  Predictor predictor;
  Sampling sampling;
  const double bytes = 600e6, rate = 20e6;
  const auto guessed = plan_dump({}, length, length, predictor.forecast({.bytes = bytes}));
  CHECK(guessed.duration < bytes / rate);
  CHECK(live(sampling, predictor, rate, bytes).last.duration > bytes / rate);
}

TEST_CASE("samples make the forecast surer") {
  Predictor predictor, without;
  Sampling sampling;
  live(sampling, predictor, 100e6, 600e6);
  const DumpForecast said = predictor.forecast({.bytes = 600e6}),
                     guessed = without.forecast({.bytes = 600e6});
  CHECK(said.p99 / said.p50 < 0.8 * guessed.p99 / guessed.p50);
  CHECK(said.p99 > 600e6 / 100e6);
}

TEST_CASE("a sample that never ends is the only one, and keeps nobody waiting") {
  Predictor predictor;
  Sampling sampling;
  const Lived lived = live(sampling, predictor, 0, 1e9);
  CHECK(lived.begun.size() == 1);
  CHECK(lived.still_wanted);
}

TEST_CASE("one that was refused is not asked for again in this window, but in the next one") {
  Predictor predictor;
  Sampling sampling;
  CHECK(live(sampling, predictor, 100e6, 1e9, 0, false).begun.size() == 1);
  CHECK(live(sampling, predictor, 100e6, 1e9, 1000, true).begun.size() > 1);
}

TEST_CASE("a store that others keep busy is not sampled") {
  Sampling sampling;
  const Sampling::Now now{.closes = std::chrono::seconds(300),
                          .length = 300,
                          .plan = {.duration = 100, .start_in = 200, .used = 0.6},
                          .job_bytes = 1e9,
                          .waiting_bytes = 200e6};
  CHECK_FALSE(sampling.step(now));
  CHECK_FALSE(sampling.wanted());
  Sampling::Now calm = now;
  calm.waiting_bytes = 1e6;
  CHECK(sampling.step(calm));
}

TEST_CASE("nothing is sampled right before a dump, however little is known") {
  Predictor predictor;
  Sampling sampling;
  const Plan near = {.duration = 200, .start_in = 20, .used = 0.3};
  CHECK_FALSE(sampling.step(
      {.closes = std::chrono::seconds(220), .length = 300, .plan = near, .job_bytes = 1e9}));
  CHECK_FALSE(sampling.wanted());
}

}  // namespace piracema::ckpt
