#include "forecast/dump/predictor.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/random.h"
#include "forecast/store/store_trace.h"

namespace piracema::ckpt {

TEST_CASE("before anything is learnt the forecast is a careful one") {
  const Predictor predictor;
  const auto forecast = predictor.forecast({.bytes = 500e6});
  CHECK(forecast.p50 > 1);
  CHECK(forecast.p99 > 2 * forecast.p50);
}

TEST_CASE("a store that nothing is known of is taken for slow if it is busy or answers slowly") {
  const Predictor predictor;
  const double calm = predictor.forecast({.bytes = 100e6, .probe = 0.01}).p99;
  CHECK(predictor.forecast({.bytes = 100e6, .dirty_bytes = 800e6, .probe = 0.01}).p99 > 2 * calm);
  CHECK(predictor.forecast({.bytes = 100e6, .writers = 8, .probe = 0.01}).p99 > 1.5 * calm);
  CHECK(predictor.forecast({.bytes = 100e6, .probe = 2}).p99 > 1.5 * calm);
  CHECK(predictor.forecast({.bytes = 100e6, .probe = 0.01, .busy = 10}).p99 > 2 * calm);
}

TEST_CASE("a store's rate is learnt in a few dumps") {
  Predictor predictor;
  for (int i = 0; i < 15; ++i)
    predictor.learn({.bytes = 400e6 + 20e6 * i}, 0.1 + (400e6 + 20e6 * i) / 1e9);
  const auto forecast = predictor.forecast({.bytes = 800e6});
  CHECK(forecast.p50 == doctest::Approx(0.9).epsilon(0.3));
  CHECK(forecast.p95 >= forecast.p50);
}

TEST_CASE("p95 holds in about 95 % of dumps, whatever the store does") {
  for (const StoreKind kind :
       {StoreKind::calm, StoreKind::contended, StoreKind::shared, StoreKind::changing}) {
    std::size_t held = 0, count = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      Predictor predictor;
      StoreTrace store(kind, seed);
      for (int i = 0; i < 300; ++i) {
        const auto [features, seconds] = store.next();
        if (i >= 30) {
          count += 1;
          held += seconds <= predictor.forecast(features).p95 ? 1 : 0;
        }
        predictor.learn(features, seconds);
      }
    }
    CAPTURE(static_cast<int>(kind));
    const double coverage = static_cast<double>(held) / static_cast<double>(count);
    CHECK(coverage > 0.93);
    CHECK(coverage < 0.97);
  }
}

TEST_CASE("a store that answers a probe slowly is expected to be slow, once that was learnt") {
  Predictor predictor;
  Random random(3);
  for (int i = 0; i < 80; ++i) {
    const double bytes = 50e6 + random.unit() * 900e6, probe = random.chance(0.5) ? 0.01 : 0.3;
    predictor.learn({.bytes = bytes, .probe = probe},
                    (0.1 + bytes / 800e6) * (probe > 0.1 ? 5 : 1));
  }
  const double calm = predictor.forecast({.bytes = 500e6, .probe = 0.01}).p50;
  const double busy = predictor.forecast({.bytes = 500e6, .probe = 0.3}).p50;
  CHECK(calm == doctest::Approx(0.725).epsilon(0.2));
  CHECK(busy == doctest::Approx(3.6).epsilon(0.2));
}

TEST_CASE("dumps that are compressed and dumps that are not are told apart on one store") {
  Predictor predictor;
  Random random(4);
  const auto some = [&](bool compressed) {
    return DumpFeatures{.bytes = 50e6 + random.unit() * 900e6,
                        .compressed = compressed ? 1.0 : 0.0};
  };
  for (int i = 0; i < 80; ++i) {
    const DumpFeatures known = some(random.chance(0.5));
    predictor.learn(known, (0.1 + known.bytes / 100e6) * (known.compressed > 0 ? 0.4 : 1));
  }
  const double plain = predictor.forecast({.bytes = 500e6}).p50;
  const double compressed = predictor.forecast({.bytes = 500e6, .compressed = 1}).p50;
  CHECK(plain == doctest::Approx(5.1).epsilon(0.2));
  CHECK(compressed == doctest::Approx(2.04).epsilon(0.2));
}

TEST_CASE("the last dump tells of the next one while it is fresh") {
  Predictor predictor;
  // An hour is slow, the next is not, by turns, and nothing else tells.
  for (int i = 0; i < 200; ++i) {
    predictor.learn({.bytes = 300e6, .at = 1e9 + 60.0 * i}, i / 20 % 2 == 0 ? 0.5 : 2.0);
  }
  const double last = 1e9 + 60.0 * 199;  // It was a slow one.
  CHECK(predictor.forecast({.bytes = 300e6, .at = last + 10}).p50 > 1.4);
  CHECK(predictor.forecast({.bytes = 300e6, .at = last + 4000}).p50 < 1.4);
}

TEST_CASE("samples tell of a store's rate before any dump has, and a little each") {
  Predictor predictor;
  const DumpFeatures job{.bytes = 800e6};
  for (int i = 0; i < 3; ++i) predictor.learn({.bytes = 64e6, .at = 10.0 * i, .sample = 1}, 2.13);
  CHECK(predictor.learnt() == 0);
  CHECK(predictor.forecast(job).p50 > 2 * Predictor().forecast(job).p50);
  // 30 MB/s, of which they are believed a part.
  CHECK(predictor.forecast(job).p50 < 800e6 / 30e6);
  CHECK(predictor.forecast(job).p99 > 800e6 / 30e6);
}

TEST_CASE("a sample that slips in between what others write says nothing of a dump beside them") {
  Predictor predictor, before;
  const DumpFeatures beside{.bytes = 400e6, .dirty_bytes = 300e6};
  for (Predictor* one : {&predictor, &before}) {
    for (int i = 0; i < 5; ++i) one->learn({.bytes = 300e6 + 50e6 * i}, 3 + 0.5 * i);
  }
  for (int i = 0; i < 4; ++i) {
    predictor.learn({.bytes = 54e6, .dirty_bytes = 300e6, .at = 10.0 * i, .sample = 1}, 0.5);
  }
  CHECK(predictor.forecast(beside).p99 > 0.6 * before.forecast(beside).p99);
}

TEST_CASE("memory that is in swap has to be read first") {
  const Predictor predictor;
  CHECK(predictor.forecast({.bytes = 1e9, .swapped_bytes = 1e9}).p50 >
        2 * predictor.forecast({.bytes = 1e9}).p50);
}

}  // namespace piracema::ckpt
