#include <doctest/doctest.h>

#include <algorithm>

#include "sim/seeds.h"
#include "sim/stream_parts.h"

namespace piracema::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr std::uint64_t copies_max = 16;

/// Says which replica has seen an item.
struct Sign {
  Outside* outside = nullptr;
  std::uint64_t replica = 0;

  void start(const Context& context) { replica = context.replica; }
  void operator()(const std::uint64_t& item, Emit<std::uint64_t>& emit) {
    if (outside->throwing > 0) {
      outside->throwing -= 1;
      throw std::runtime_error("bad luck");
    }
    outside->worked += 1;
    emit(item * copies_max + replica);
  }
};

/// Sources whose items all replicas of a farm get, each process a host of its own. The seed chooses
/// how many there are of each, and whether the items keep their order.
struct News {
  explicit News(std::uint64_t seed) {
    Random random(seed);
    sources = 1 + static_cast<std::uint32_t>(random.below(2));
    readers = 2 + static_cast<std::uint32_t>(random.below(5));
    ordered = random.chance(0.3);
    auto write = sink("write", Write{&outside});
    if (ordered) write = std::move(write).ordered();
    graph = pipeline(source("count", Count{items}).replicas(sources),
                     farm("sign", readers, Sign{&outside}).broadcast(), std::move(write));
  }

  MakeWorker workers(std::uint64_t seed) {
    return [this, seed](Slot slot, ProcessHost& host) {
      return make_stream_worker(graph, slot, host, seed % 3, &counts);
    };
  }
  Cluster::Settings settings(std::uint64_t seed) {
    Cluster::Settings with = settings_of(seed, graph);
    with.job.slots = 3 + static_cast<std::uint32_t>(seed % 4);
    return with;
  }
  void check_output() {
    std::vector<std::uint64_t> wanted;
    for (std::uint32_t source = 0; source < sources; ++source) {
      for (std::uint64_t i = 0; i < items; ++i) {
        for (std::uint64_t replica = 0; replica < readers; ++replica) {
          wanted.push_back((source * 1'000'000u + i) * copies_max + replica);
        }
      }
    }
    std::sort(outside.output.begin(), outside.output.end());
    CHECK((outside.output == wanted));
  }

  const std::uint64_t items = 300;
  std::uint32_t sources = 1, readers = 2;
  bool ordered = false;
  Outside outside;
  StreamCounts counts;
  Graph graph;
};

}  // namespace

TEST_CASE("whatever trees items go by, all get each of them once, and nothing waits for a tree") {
  std::uint64_t trees = 0, relayed = 0, sent_again = 0;
  for (const auto seed : seeds(200)) {
    News news(seed);
    Cluster cluster(news.settings(seed), news.workers(seed));
    REQUIRE(cluster.run(seconds(60)));
    CHECK(cluster.finish()->code == 0);
    CHECK(cluster.coordinator().epoch() == 1);
    news.check_output();
    trees += news.counts.trees;
    relayed += news.counts.relayed;
    sent_again += news.counts.sent_again;
  }
  CHECK(is_exercised(trees, 400, 200));
  CHECK(is_exercised(sent_again, 200, 200));
  CHECK(is_exercised(relayed, 2'000, 200));
}

TEST_CASE("all get each item once, whatever goes wrong with whom on the way") {
  std::uint64_t relayed = 0;
  for (const auto seed : seeds(500)) {
    News news(seed);
    Cluster::Settings with = news.settings(seed);
    with.chaos = everything(Random(seed));
    if (seed % 3 == 0) {
      with.search = seconds(30);
      with.chaos.coordinator_kill = milliseconds(1'500);
    }
    Cluster cluster(with, news.workers(seed));
    cluster.scheduler().at(milliseconds(700), [&] { news.outside.throwing = 1; });
    REQUIRE(cluster.run(seconds(200)));
    CHECK(cluster.finish()->code == 0);
    news.check_output();
    relayed += news.counts.relayed;
  }
  CHECK(is_exercised(relayed, 5'000, 500));
}

}  // namespace piracema::sim
