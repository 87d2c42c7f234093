#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "topology/measure/link_map.h"
#include "topology/trees/earliest_edge.h"
#include "topology/trees/testing.h"

using namespace piracema;
using namespace piracema::coll;
using std::chrono::microseconds;
using std::chrono::milliseconds;

namespace {

Time latency_to_round_trip(double seconds) {
  return std::chrono::duration_cast<Time>(std::chrono::duration<double>(2 * seconds));
}

}  // namespace

TEST_CASE("a forecast of a link that never changes is what it takes") {
  Forecaster forecaster;
  CHECK_FALSE(forecaster.knows());
  for (int i = 0; i < 30; ++i) forecaster.add(0.25);
  CHECK(forecaster.forecast() == 0.25);
  CHECK(forecaster.error() == 0);
}

TEST_CASE("the predictor that errs least speaks") {
  Random random(1);
  Forecaster noisy, stepping;
  for (int i = 0; i < 400; ++i) {
    noisy.add(1 + 0.1 * random.unit());
    stepping.add(i / 100);
  }
  CHECK(std::string(noisy.speaks()) != "last");
  CHECK(noisy.forecast() == doctest::Approx(1.05).epsilon(0.03));
  CHECK(std::string(stepping.speaks()) == "last");
  CHECK(stepping.forecast() == 3);
}

TEST_CASE("outliers do not move the forecast where a median errs less") {
  Random random(2);
  Forecaster forecaster;
  for (int i = 0; i < 400; ++i) forecaster.add(random.chance(0.1) ? 50 : 1 + 0.01 * random.unit());
  CHECK(forecaster.forecast() < 1.1);
}

TEST_CASE("noise changes nothing, a step does at the second sight") {
  Random random(3);
  Steady steady;
  CHECK(steady.follow(0.1));
  for (int i = 0; i < 10'000; ++i) CHECK_FALSE(steady.follow(0.1 * (0.91 + 0.18 * random.unit())));
  CHECK_FALSE(steady.follow(0.2));
  CHECK(steady.follow(0.2));
  CHECK(steady.value() == 0.2);
  // One outlier each way is none.
  CHECK_FALSE(steady.follow(5));
  CHECK_FALSE(steady.follow(0.01));
  CHECK_FALSE(steady.follow(0.2));
}

TEST_CASE("differences of microseconds are none") {
  Steady steady;
  steady.follow(10e-6);
  for (int i = 0; i < 100; ++i) CHECK_FALSE(steady.follow(25e-6));
}

TEST_CASE("places tell the latency of pairs that never measured each other") {
  // Ranks in a plane; each measures a third of the others.
  Random random(4);
  constexpr Rank size = 40;
  std::vector<std::pair<double, double>> at;
  for (Rank i = 0; i < size; ++i) at.emplace_back(0.1 * random.unit(), 0.1 * random.unit());
  const auto latency = [&](Rank a, Rank b) {
    return 0.001 + std::hypot(at[a].first - at[b].first, at[a].second - at[b].second);
  };
  const auto measures = [](Rank a, Rank b) { return Random(a * b + a + b).chance(0.33); };
  std::vector<Coordinate> places(size);
  for (int round = 0; round < 300; ++round) {
    for (Rank a = 0; a < size; ++a) {
      const auto b = static_cast<Rank>(random.below(size));
      if (a != b && measures(a, b)) move_by(places[a], places[b], latency(a, b), random.unit());
    }
  }
  std::vector<double> off;
  for (Rank a = 0; a < size; ++a) {
    for (Rank b = 0; b < a; ++b) {
      if (measures(a, b)) continue;
      off.push_back(std::abs(distance(places[a], places[b]) - latency(a, b)) / latency(a, b));
    }
  }
  std::sort(off.begin(), off.end());
  CHECK(off[off.size() / 2] < 0.25);
}

TEST_CASE("the map is the mean of both ends, and takes the newest of every row") {
  LinkMap a(0, 3, 1), b(1, 3, 2);
  a.on_round_trip(1, milliseconds(20));
  b.on_round_trip(0, milliseconds(24));
  b.on_round_trip(2, milliseconds(100));
  CHECK(a.table().at(0, 1).latency == doctest::Approx(0.010));
  CHECK(a.on_row(b.row(1)));
  CHECK(a.table().at(0, 1).latency == doctest::Approx(0.011));
  CHECK(a.table().at(2, 1).latency == doctest::Approx(0.050));
  std::size_t measured = 0;
  a.table(&measured);
  CHECK(measured == 2);

  const Row old = b.row(1);
  b.on_round_trip(2, milliseconds(300));
  b.on_round_trip(2, milliseconds(300));
  b.on_round_trip(2, milliseconds(300));
  CHECK(a.on_row(b.row(1)));
  const std::uint64_t version = a.version();
  CHECK(a.on_row(old));
  CHECK(a.version() == version);
  CHECK(a.table().at(1, 2).latency > 0.1);
}

TEST_CASE("bandwidth is what came, and that of the other direction where nothing did") {
  LinkMap a(0, 3, 1), b(1, 3, 2);
  CHECK(a.table().at(0, 1).per_byte == 0);
  b.on_transfer(0, 0.010);
  CHECK(a.on_row(b.row(1)));
  CHECK(a.table().at(0, 1).per_byte == doctest::Approx(10e-9));
  CHECK(a.table().at(1, 0).per_byte == doctest::Approx(10e-9));
  CHECK(a.table().at(0, 2).per_byte == 0);
  a.on_transfer(1, 0.1);
  CHECK(a.table().at(0, 1).per_byte == doctest::Approx(10e-9));
  CHECK(a.table().at(1, 0).per_byte == doctest::Approx(100e-9));
}

TEST_CASE("a link that falls silent is known to be slow before it answers") {
  LinkMap map(0, 2, 1);
  map.on_round_trip(1, milliseconds(20));
  map.on_silence(1, milliseconds(40));
  CHECK(map.table().at(0, 1).latency == doctest::Approx(0.010));
  map.on_silence(1, milliseconds(900));
  map.on_silence(1, milliseconds(1'000));
  CHECK(map.table().at(0, 1).latency >= 0.4);
}

TEST_CASE("rows that make no sense are refused") {
  LinkMap map(0, 3, 1);
  Row row{.of = 1, .version = 1, .latency = {0.1f, -1, 0.2f}, .megabyte = {1, -1, -1}};
  CHECK(map.on_row(row));
  for (auto spoil : std::vector<void (*)(Row&)>{
           [](Row& r) { r.of = 3; }, [](Row& r) { r.latency.pop_back(); },
           [](Row& r) { r.latency[0] = std::numeric_limits<float>::quiet_NaN(); },
           [](Row& r) { r.latency[0] = std::numeric_limits<float>::infinity(); },
           [](Row& r) { r.megabyte.pop_back(); },
           [](Row& r) { r.megabyte[1] = std::numeric_limits<float>::infinity(); },
           [](Row& r) { r.place.height = std::numeric_limits<double>::quiet_NaN(); }}) {
    Row spoilt = row;
    spoilt.version = 2;
    spoil(spoilt);
    CHECK_FALSE(map.on_row(spoilt));
  }
}

TEST_CASE("a tree from noisy measurements is nearly as good as one from the truth") {
  Random random(5);
  const LinkTable truth = coll::testing::paper_links_after_changes();
  std::vector<LinkMap> maps;
  for (Rank rank = 0; rank < 24; ++rank) maps.emplace_back(rank, 24, rank);
  for (int round = 0; round < 10; ++round) {
    for (Rank a = 0; a < 24; ++a) {
      for (Rank b = 0; b < 24; ++b) {
        if (a == b) continue;
        maps[a].on_round_trip(
            b, latency_to_round_trip(truth.at(a, b).latency * (1 + 0.05 * random.unit())));
      }
    }
  }
  for (Rank rank = 0; rank < 24; ++rank) CHECK(maps[12].on_row(maps[rank].row(rank)));
  const LinkTable known = maps[12].table();
  const TableCosts by_known(known, 50e-6, 0), by_truth(truth, 50e-6, 0);
  const double with_known = completion(fast_tree(by_known, 12), by_truth);
  CHECK(with_known <= 1.03 * completion(fast_tree(by_truth, 12), by_truth));
}
