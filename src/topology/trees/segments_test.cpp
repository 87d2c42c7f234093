#include "topology/trees/segments.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "topology/measure/transfer.h"
#include "topology/trees/classic.h"
#include "topology/trees/earliest_edge.h"
#include "topology/trees/lower_bound.h"
#include "topology/trees/testing.h"

using namespace piracema;
using namespace piracema::coll;
using piracema::coll::testing::ms;

namespace {

/// Sites with 100 MB/s within, and 1 to 20 MB/s between.
LinkTable random_sites(Rank size, Rank sites, std::uint64_t seed) {
  Random random(seed);
  LinkTable links(size);
  LinkTable between(sites);
  for (Rank a = 0; a < sites; ++a) {
    for (Rank b = 0; b < a; ++b) {
      between.set_both(a, b, {(5 + 100 * random.unit()) * ms, 1e-6 / (1 + 19 * random.unit())});
    }
  }
  for (Rank a = 0; a < size; ++a) {
    for (Rank b = 0; b < a; ++b) {
      links.set_both(
          a, b, a % sites == b % sites ? Link{0.1 * ms, 1e-8} : between.at(a % sites, b % sites));
    }
  }
  return links;
}

}  // namespace

TEST_CASE("a message of one segment takes as long as a whole one") {
  const LinkTable links = random_sites(9, 3, 1);
  const SegmentCosts segments(links, 1e-5, 50'000);
  const TableCosts whole(links, 1e-5, 50'000);
  for (const Tree& tree : {binomial_tree(9, 0), fast_tree(whole, 0)}) {
    CHECK(completion_in_segments(tree, segments) == doctest::Approx(completion(tree, whole)));
  }
}

TEST_CASE("along a chain of equal links a large message takes little longer than over one") {
  const LinkTable links(16, {0.1 * ms, 1e-8});
  const SegmentCosts costs(links, 1e-5, 1e7);
  Tree chain(16, 0);
  for (Rank rank = 1; rank < 16; ++rank) chain.adopt(rank - 1, rank);
  CHECK(completion_in_segments(chain, costs) < 1.35 * (0.1 * ms + 1e7 * 1e-8));
  CHECK(completion_in_segments(segment_tree(costs, 0), costs) < 1.35 * 1e7 * 1e-8);
  // Four times it has to leave the root of a binomial tree.
  CHECK(completion_in_segments(binomial_tree(16, 0), costs) > 4 * 1e7 * 1e-8);
}

TEST_CASE("large messages complete within 1.35 of the time that their slowest way needs") {
  double worst = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto sites = static_cast<Rank>(2 + seed % 5);
    const LinkTable links = random_sites(24, sites, seed);
    for (const double bytes : {1e6, 1e7}) {
      const SegmentCosts costs(links, 1e-5, bytes);
      // Somebody gets it over a link between sites, unless there is a faster way round.
      const TableCosts whole(links, 1e-5, bytes);
      const Tree tree = segment_tree(costs, 0);
      const double took = completion_in_segments(tree, costs);
      CHECK(took <= completion_in_segments(binomial_tree(24, 0), costs));
      worst = std::max(worst, took / lower_bound(whole, 0));
    }
  }
  MESSAGE("at most " << worst << " times the bound of whole messages");
  CHECK(worst <= 1.35);
}

TEST_CASE("a link's bandwidth is how far apart segments come") {
  using std::chrono::milliseconds;
  Transfer transfer;
  for (int i = 0; i < 5; ++i) {
    if (i < 4) CHECK_FALSE(transfer.megabyte());
    transfer.on_segment(Time(i), Time(milliseconds(500 + 20 * i)), 100'000);
  }
  REQUIRE(transfer.megabyte());
  CHECK(*transfer.megabyte() == doctest::Approx(0.2));
}

TEST_CASE("segments that come as slowly as they were sent tell nothing of the link") {
  using std::chrono::milliseconds;
  Transfer transfer;
  for (int i = 0; i < 10; ++i) {
    transfer.on_segment(Time(milliseconds(19 * i)), Time(milliseconds(500 + 20 * i)), 100'000);
  }
  CHECK_FALSE(transfer.megabyte());
}
