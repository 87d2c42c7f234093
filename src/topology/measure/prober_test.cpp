// Probers of a whole job on simulated links.
#include "topology/measure/prober.h"

#include <doctest/doctest.h>

#include "topology/measure/delays.h"
#include "topology/measure/testing.h"
#include "topology/trees/earliest_edge.h"
#include "topology/trees/testing.h"

using namespace piracema;
using namespace piracema::coll;
using std::chrono::milliseconds;

namespace {

struct Job : coll::testing::ProbedLinks {
  using ProbedLinks::ProbedLinks;
  /// How long a broadcast takes on the tree that its root would make now, by the bound of the
  /// truth.
  double ratio(Rank root) const {
    const LinkTable known = probers[root].map().table();
    const TableCosts by_known(known, 50e-6, 0), by_truth(links, 50e-6, 0);
    return completion(fast_tree(by_known, root), by_truth) /
           completion(fast_tree(by_truth, root), by_truth);
  }
};

}  // namespace

TEST_CASE("soon after the start every rank can make a good tree") {
  Job job(coll::testing::paper_links(), 1);
  job.run_until(milliseconds(3'000));
  for (Rank root = 0; root < 24; ++root) CHECK(job.ratio(root) <= 1.05);
}

TEST_CASE("two seconds after the paper's changes the tree is good again") {
  const LinkTable before = coll::testing::paper_links_before_changes();
  const LinkTable after = coll::testing::paper_links_after_changes();
  for (const double loss : {0.0, 0.1}) {
    Job job(before, 2);
    job.run_until(milliseconds(10'000));
    CHECK(job.ratio(12) <= 1.05);
    job.links = after;
    CHECK(job.ratio(12) > 1.5);
    job.loss = loss;
    job.run_until(milliseconds(loss == 0 ? 12'000 : 14'000));
    CHECK(job.ratio(12) <= 1.05);
  }
}

TEST_CASE("a rank asks no more than a hundred times in a second") {
  Job job(coll::testing::paper_links(), 3);
  job.run_until(milliseconds(2'000));
  const std::uint64_t before = job.probers[3].packets_sent();
  job.run_until(milliseconds(12'000));
  // As many answers as questions.
  CHECK(job.probers[3].packets_sent() - before <= 2 * 10 * 100);
}

TEST_CASE("packets of others, and bytes that are none, change nothing") {
  Prober mine(0, 4, 1, 1), other(1, 4, 2, 1);
  for (const Packet& packet : other.tick(milliseconds(1))) {
    CHECK(mine.on_packet(milliseconds(2), packet.bytes).empty());
  }
  Prober good(1, 4, 1, 1);
  auto packets = good.tick(milliseconds(1));
  REQUIRE(packets.size() == 1);
  CHECK(mine.on_packet(milliseconds(2), packets[0].bytes).size() == 1);
  Random random(1);
  const std::uint64_t version = mine.map().version();
  for (int i = 0; i < 10'000; ++i) {
    std::string bytes = packets[0].bytes;
    bytes.resize(random.below(bytes.size() + 1));
    CHECK((bytes.size() == packets[0].bytes.size() ||
           mine.on_packet(milliseconds(3), bytes).empty()));
  }
  CHECK(mine.map().version() == version);
}

TEST_CASE("delays are read from a file, and mistakes in it are named") {
  const auto links = parse_delays("# a\nall all 1ms\n0-1 2-3 10.5ms 100ms # far\n\n0 3 7ms", 4);
  REQUIRE(links.ok());
  CHECK(links->at(0, 1).latency == doctest::Approx(0.001));
  CHECK(links->at(2, 1).latency == doctest::Approx(0.0105));
  CHECK(links->at(2, 1).per_byte == doctest::Approx(1e-7));
  CHECK(links->at(3, 0).latency == doctest::Approx(0.007));
  CHECK(links->at(3, 0).per_byte == 0);
  for (const char* wrong : {"0 1", "0 4 1ms", "0 1 1", "0 1 -1ms", "0 1 nanms", "1-0 2 1ms",
                            "0 1 1ms 1ms 1ms", "x 1 1ms"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_delays(wrong, 4).ok());
  }
  CHECK(parse_delays("all all 1ms\n0 9 1ms", 4).error().message.find("line 2") !=
        std::string::npos);
}

TEST_CASE("when an answer came last is known, and stays when the link falls silent") {
  Job job(coll::testing::paper_links(), 4);
  CHECK(job.probers[0].answered(1) == Time{});
  job.run_until(milliseconds(5'000));
  const Time last = job.probers[0].answered(1);
  // Each peer is asked twice a second; here there are too many of them for that, but for once.
  CHECK(last > milliseconds(4'000));
  job.loss = 1;
  job.run_until(milliseconds(9'000));
  CHECK(job.probers[0].answered(1) <= milliseconds(5'500));
}
