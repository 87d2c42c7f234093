#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include <piracema/blocks.h>

#include "sim/seeds.h"
#include "sim/stream_worker.h"

namespace piracema::sim {

using namespace cluster;
using std::chrono::seconds;

namespace {

/// What lies outside of the processes, and what no recovery undoes.
struct Outside {
  using Transaction = std::pair<std::uint64_t, SnapshotId>;  // Who wrote it, and for what.
  std::map<Transaction, std::vector<std::uint64_t>> written;
  std::set<Transaction> visible;
  /// What became visible, in that order.
  std::vector<std::uint64_t> output;
  std::uint64_t writers = 0;
  /// The next items of this farm throw.
  int throwing = 0;
  /// An item that it always throws on.
  std::optional<std::uint64_t> poison;

  void show(const Transaction& transaction) {
    if (!visible.insert(transaction).second) return;
    const auto& items = written.at(transaction);
    output.insert(output.end(), items.begin(), items.end());
  }
};

/// Counts up from a number of its own replica.
struct Count {
  std::uint64_t end = 0;
  std::uint64_t next = 0;
  std::uint64_t base = 0;

  void start(const Context& context) { base = context.replica * 1'000'000u; }
  std::optional<std::uint64_t> operator()() {
    return next < end ? std::optional(base + next++) : std::nullopt;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(next);
  }
};

/// Passes on, drops or doubles, and throws when it is told to.
struct Work {
  Outside* outside = nullptr;

  void operator()(const std::uint64_t& item, Emit<std::uint64_t>& emit) {
    if (item == outside->poison) throw std::runtime_error("bad item");
    if (outside->throwing > 0) {
      outside->throwing -= 1;
      throw std::runtime_error("bad luck");
    }
    for (std::uint64_t i = 0; i < item % 3; ++i) emit(2 * item + i);
  }
};

/// Writes transactions of its own and shows them when their snapshot cannot be lost any more.
/// A process of old may still write, but never into a transaction of a later one.
struct Write {
  Outside* outside = nullptr;
  std::uint64_t writer = 0;
  std::vector<std::uint64_t> items;
  std::vector<Outside::Transaction> prepared;

  void start(const Context&) { writer = ++outside->writers; }
  void operator()(const std::uint64_t& item) { items.push_back(item); }
  void prepare(SnapshotId snapshot) {
    prepared.push_back({writer, snapshot});
    outside->written[prepared.back()] = std::exchange(items, {});
  }
  void commit(SnapshotId snapshot) {
    for (const auto& transaction : prepared) {
      if (transaction.second <= snapshot) outside->show(transaction);
    }
    std::erase_if(prepared, [&](const auto& one) { return one.second <= snapshot; });
  }
  void restored(SnapshotId snapshot) { commit(snapshot); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(prepared);
  }
};

std::vector<std::uint64_t> expected(std::uint32_t sources, std::uint64_t items) {
  std::vector<std::uint64_t> all;
  for (std::uint32_t source = 0; source < sources; ++source) {
    for (std::uint64_t i = 0; i < items; ++i) {
      const std::uint64_t item = source * 1'000'000u + i;
      for (std::uint64_t copy = 0; copy < item % 3; ++copy) all.push_back(2 * item + copy);
    }
  }
  return all;
}

Cluster::Settings settings(std::uint64_t seed, const Graph& graph) {
  Cluster::Settings settings;
  settings.seed = seed;
  settings.shape = graph.shape;
  settings.job.slots = 3;
  settings.job.snapshots = true;
  settings.job.snapshot_interval = milliseconds(200);
  settings.job.snapshot_timeout = milliseconds(3'000);
  settings.job.restart_budget = 1'000;
  return settings;
}

Chaos everything(Random random) {
  const auto sometimes = [&](Time mean) { return random.chance(0.5) ? mean : Time{}; };
  Chaos chaos;
  chaos.until = seconds(6);
  chaos.kill = sometimes(milliseconds(400));
  chaos.crash = sometimes(milliseconds(1'000));
  chaos.freeze = sometimes(milliseconds(1'000));
  chaos.disconnect = sometimes(milliseconds(1'000));
  chaos.stall = sometimes(milliseconds(3'000));
  chaos.slow = sometimes(milliseconds(1'000));
  chaos.undead = random.chance(0.5) ? 0.3 : 0;
  if (random.chance(0.5)) chaos.store = {.put = 0.02, .commit = 0.1, .seed = random.next()};
  return chaos;
}

/// A stream with two farms; the seed chooses how many there are of each and how items travel.
struct Stream {
  explicit Stream(std::uint64_t seed) {
    Random random(seed);
    sources = 1 + static_cast<std::uint32_t>(random.below(2));
    ordered = random.chance(0.5);
    const auto farms = [&] { return 1 + static_cast<std::uint32_t>(random.below(3)); };
    auto count = source("count", Count{items}).replicas(sources);
    auto work = farm("work", farms(), Work{&outside});
    auto pass = farm("pass", farms(), [](const std::uint64_t& item) { return item; });
    auto write = sink("write", Write{&outside});
    switch (random.below(3)) {
      case 0: pass = std::move(pass).round_robin(); break;
      case 1: pass = std::move(pass).by_key([](const std::uint64_t& item) { return item; }); break;
      default: break;
    }
    if (ordered) {
      write = std::move(write).ordered();
    } else {
      write = std::move(write).replicas(1 + static_cast<std::uint32_t>(random.below(2)));
    }
    graph = pipeline(std::move(count), std::move(work), std::move(pass), std::move(write));
  }

  MakeWorker workers() {
    return [this](Slot slot, ProcessHost& host) { return make_stream_worker(graph, slot, host); };
  }
  /// Items that would come from the one that always fails.
  std::size_t lost_with_poison() const { return *outside.poison % 3; }
  /// The items of each source, in the order of the output.
  void check_output() {
    const auto wanted = expected(sources, items);
    auto found = outside.output;
    const auto by_source = [](std::uint64_t a, std::uint64_t b) {
      return a / 2'000'000 < b / 2'000'000;
    };
    if (ordered) {
      std::stable_sort(found.begin(), found.end(), by_source);
    } else {
      std::sort(found.begin(), found.end());
    }
    CHECK(found.size() == wanted.size());
    CHECK((found == wanted));
  }

  const std::uint64_t items = 500;
  std::uint32_t sources = 1;
  bool ordered = false;
  Outside outside;
  Graph graph;
};

}  // namespace

TEST_CASE("a stream without faults gives every item once") {
  for (const auto seed : seeds(50)) {
    Stream stream(seed);
    Cluster cluster(settings(seed, stream.graph), stream.workers());
    REQUIRE(cluster.run(seconds(60)));
    CHECK(cluster.finish()->code == 0);
    CHECK(cluster.coordinator().epoch() == 1);
    stream.check_output();
  }
}

TEST_CASE("a stream gives every item once, whatever goes wrong on the way") {
  std::uint64_t recoveries = 0;
  for (const auto seed : seeds(1'000)) {
    Stream stream(seed);
    Cluster::Settings with = settings(seed, stream.graph);
    with.chaos = everything(Random(seed));
    Cluster cluster(with, stream.workers());
    Random random(seed + 1);
    for (Time at{}; at < with.chaos.until; at += random.below(3'000) * milliseconds(1)) {
      cluster.scheduler().at(at, [&] { stream.outside.throwing = 1; });
    }
    REQUIRE(cluster.run(seconds(200)));
    CHECK(cluster.finish()->code == 0);
    stream.check_output();
    recoveries += cluster.coordinator().epoch() - 1;
  }
  CHECK((recoveries > 0 || tracing()));
}

TEST_CASE("a stream that is stopped again and again and resumed gives every item once") {
  for (const auto seed : seeds(100)) {
    Stream stream(seed);
    store::MemoryStore store;
    std::optional<SnapshotId> resume;
    int code = 75;
    for (int run = 0; run < 100 && code != 0; ++run) {
      Cluster::Settings with =
          settings(seed * 1'000 + static_cast<std::uint64_t>(run), stream.graph);
      with.job.resume = resume;
      with.store = &store;
      Cluster cluster(with, stream.workers());
      cluster.stop_at(milliseconds(400));
      REQUIRE(cluster.run(seconds(60)));
      code = cluster.finish()->code;
      // It may be told to stop before it has begun.
      REQUIRE((code == 75 || code == 0 || (code == 143 && !resume)));
      resume = cluster.coordinator().last_snapshot();
    }
    CHECK(code == 0);
    stream.check_output();
  }
}

TEST_CASE(
    "an item that always fails ends the job, or is passed by if there is a dead-letter file") {
  for (const auto seed : seeds(100)) {
    Stream stream(seed);
    stream.outside.poison = 221;
    Cluster::Settings with = settings(seed, stream.graph);
    with.job.restart_budget = 3;
    with.job.dead_letters = seed % 2 == 0;
    Cluster cluster(with, stream.workers());
    REQUIRE(cluster.run(seconds(60)));
    if (with.job.dead_letters) {
      CHECK(cluster.finish()->code == 0);
      CHECK(stream.outside.output.size() + stream.lost_with_poison() ==
            expected(stream.sources, stream.items).size());
    } else {
      CHECK(cluster.finish()->code == 1);
      CHECK(cluster.finish()->why.find("failed 3 times at or near item") != std::string::npos);
    }
  }
}

}  // namespace piracema::sim
