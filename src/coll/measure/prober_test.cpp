// Probers of a whole job on simulated links.
#include "coll/measure/prober.h"

#include <doctest/doctest.h>

#include <memory>
#include <queue>

#include "coll/measure/delays.h"
#include "coll/trees/earliest_edge.h"
#include "coll/trees/testing.h"

using namespace piracema;
using namespace piracema::coll;
using std::chrono::milliseconds;

namespace {

struct Job {
  Job(Rank size, LinkTable the_links, std::uint64_t seed)
      : links(std::move(the_links)), random(seed) {
    for (Rank rank = 0; rank < size; ++rank) probers.emplace_back(rank, size, 42, rank);
  }

  void send(Rank from, std::vector<Packet> packets) {
    for (Packet& packet : packets) {
      if (random.chance(loss)) continue;
      const double latency = links.at(from, packet.to).latency * (1 + 0.02 * random.unit()) + 50e-6;
      const auto delay = std::chrono::duration_cast<Time>(std::chrono::duration<double>(latency));
      air.push({now + delay, ++count, packet.to, std::move(packet.bytes)});
    }
  }
  void run_until(Time end) {
    while (true) {
      Time next = end;
      for (const Prober& prober : probers) next = std::min(next, prober.next());
      if (!air.empty()) next = std::min(next, air.top().at);
      if (next >= end) break;
      now = std::max(now, next);
      for (Rank rank = 0; rank < probers.size(); ++rank) send(rank, probers[rank].tick(now));
      while (!air.empty() && air.top().at <= now) {
        const Flying packet = air.top();
        air.pop();
        send(packet.to, probers[packet.to].on_packet(now, packet.bytes));
      }
    }
    now = end;
  }
  /// How long a broadcast takes on the tree that its root would make now, by the bound of the
  /// truth.
  double ratio(Rank root) const {
    const LinkTable known = probers[root].map().table();
    const TableCosts by_known(known, 50e-6, 0), by_truth(links, 50e-6, 0);
    return completion(fast_tree(by_known, root), by_truth) /
           completion(fast_tree(by_truth, root), by_truth);
  }

  struct Flying {
    Time at;
    std::uint64_t number;
    Rank to;
    std::string bytes;
    bool operator<(const Flying& other) const {
      return std::pair(at, number) > std::pair(other.at, other.number);
    }
  };
  LinkTable links;
  Random random;
  double loss = 0;
  Time now{};
  std::uint64_t count = 0;
  std::vector<Prober> probers;
  std::priority_queue<Flying> air;
};

}  // namespace

TEST_CASE("soon after the start every rank can make a good tree") {
  Job job(24, coll::testing::paper_links(), 1);
  job.run_until(milliseconds(3'000));
  for (Rank root = 0; root < 24; ++root) CHECK(job.ratio(root) <= 1.05);
}

TEST_CASE("two seconds after the paper's changes the tree is good again") {
  const LinkTable before = coll::testing::paper_links_before_changes();
  const LinkTable after = coll::testing::paper_links_after_changes();
  for (const double loss : {0.0, 0.1}) {
    Job job(24, before, 2);
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
  Job job(24, coll::testing::paper_links(), 3);
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
