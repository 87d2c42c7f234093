// Barriers that overtake items, and snapshots that have them: with operators that are slower than
// what comes.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "flow/states.h"
#include "sim/seeds.h"
#include "sim/stream_parts.h"
#include "state/redistribution.h"

namespace piracema::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr std::uint64_t keys = 50, items = 400;
std::uint64_t key_of(const std::uint64_t& item) { return item * 7 % keys; }

struct Tally {
  std::uint64_t count = 0, sum = 0;
};

/// Says how often it has seen a key, some times twice: what it makes may find no room.
struct CountKeys {
  Outside* outside = nullptr;
  static constexpr std::uint64_t at_end = 1'000'000'000;

  static std::uint64_t says(const std::uint64_t& item, const Tally& tally) {
    return item * 10'000 + tally.count * 10;
  }
  void operator()(const std::uint64_t& item, Tally& tally, Emit<std::uint64_t>& emit) {
    if (outside->throwing > 0) {
      outside->throwing -= 1;
      throw std::runtime_error("bad luck");
    }
    tally.count += 1;
    tally.sum += item;
    for (std::uint64_t i = 0; i <= item % 3; ++i) emit(says(item, tally) + i);
  }
  void finish(const std::uint64_t& key, Tally& tally, Emit<std::uint64_t>& emit) {
    emit(at_end + key * 1'000'000 + tally.sum);
  }
};

// The same by one map, one item after the other.
std::vector<std::uint64_t> expected() {
  std::vector<std::uint64_t> all;
  std::map<std::uint64_t, Tally> tallies;
  for (std::uint64_t item = 0; item < items; ++item) {
    Tally& tally = tallies[key_of(item)];
    tally.count += 1;
    tally.sum += item;
    for (std::uint64_t i = 0; i <= item % 3; ++i) all.push_back(CountKeys::says(item, tally) + i);
  }
  for (const auto& [key, tally] : tallies) {
    all.push_back(CountKeys::at_end + key * 1'000'000 + tally.sum);
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// How long each of its operators takes for a batch; none: next to nothing.
struct Slowness {
  Time pass{}, tally{}, write{};

  static Slowness drawn(Random& random) {
    const auto some = [&random] {
      return random.chance(0.4) ? Time{} : milliseconds(1) + random.below(25) * milliseconds(1);
    };
    const Time pass = some(), tally = some();
    return {pass, tally, some()};
  }
};

Graph graph_of(Outside& outside, const Slowness& slow, std::uint32_t passing,
               std::uint32_t tallying, std::uint32_t batch) {
  return pipeline(source("count", Count{items}).batch({.items = batch}),
                  farm("pass", passing, [](const std::uint64_t& item) { return item; })
                      .by_key(key_of)
                      .cost(slow.pass)
                      .batch({.items = batch}),
                  farm("tally", tallying, CountKeys{&outside})
                      .by_key(key_of, 64)
                      .cost(slow.tally)
                      .batch({.items = batch}),
                  sink("write", Write{&outside}).cost(slow.write));
}

struct Job {
  explicit Job(std::uint64_t seed)
      : random(seed), slow(Slowness::drawn(random)), threads(seed % 3) {
    const auto upto = [this](std::uint32_t most) {
      return 1 + static_cast<std::uint32_t>(random.below(most));
    };
    graph = graph_of(outside, slow, upto(3), upto(4), upto(12));
    with = settings_of(seed, graph);
    with.layouts = flow::state_types_of(graph).layouts;
    with.job.overtake_after = random.below(60) * milliseconds(1);
  }

  void run() {
    Cluster cluster(with, [this](Slot slot, ProcessHost& host) {
      return make_stream_worker(graph, slot, host, threads, &counts);
    });
    cluster.on_action = [this](const cluster::Action& action) {
      const auto* tell = std::get_if<cluster::Tell>(&action);
      if (tell == nullptr) return;
      if (const auto* taken = std::get_if<cluster::SnapshotTaken>(&tell->note)) {
        took.push_back(taken->took);
      }
      switched += std::holds_alternative<cluster::ScaleSwitched>(tell->note);
      const auto* named = std::get_if<cluster::SavepointEnded>(&tell->note);
      if (named != nullptr && named->snapshot) savepoints[named->name] = *named->snapshot;
    };
    if (begun) begun(cluster);
    REQUIRE(cluster.run(seconds(600)));
    CHECK(cluster.finish()->code == 0);
    recoveries += cluster.coordinator().epoch() - 1;
    auto found = outside.output;
    std::sort(found.begin(), found.end());
    const auto wanted = expected();
    CHECK(found.size() == wanted.size());
    CHECK((found == wanted));
  }

  Random random;
  Slowness slow;
  std::size_t threads;
  Outside outside;
  Graph graph;
  Cluster::Settings with;
  std::function<void(Cluster&)> begun;
  StreamCounts counts;
  std::vector<Time> took;
  std::uint64_t switched = 0, recoveries = 0;
  /// What was said of them.
  std::map<std::string, SnapshotId> savepoints;
};

}  // namespace

TEST_CASE("what barriers have overtaken is done once, whatever goes wrong on the way") {
  std::uint64_t overtaken = 0, restored = 0;
  for (const auto seed : seeds(300)) {
    Job job(seed);
    job.with.chaos = everything(Random(seed));
    job.begun = [&](Cluster& cluster) {
      for (Time at{}; at < job.with.chaos.until; at += job.random.below(3'000) * milliseconds(1)) {
        cluster.scheduler().at(at, [&] { job.outside.throwing = 1; });
      }
    };
    job.run();
    overtaken += job.counts.overtaken;
    restored += job.counts.restored_overtaken;
  }
  CHECK(is_exercised(overtaken, 300, 300));
  CHECK(is_exercised(restored, 100, 300));
}

TEST_CASE("a stream whose barriers overtake items grows and shrinks all the same") {
  std::uint64_t overtaken = 0, switched = 0, restored = 0;
  for (const auto seed : seeds(200)) {
    Job job(seed);
    job.with.chaos = everything(Random(seed));
    job.begun = [&](Cluster& cluster) {
      for (Time at{}; at < job.with.chaos.until; at += job.random.below(2'000) * milliseconds(1)) {
        cluster::ScaleRequest request;
        request.replicas.push_back({"tally", 1 + static_cast<std::uint32_t>(job.random.below(4))});
        cluster.ask_at(at, request);
      }
    };
    job.run();
    overtaken += job.counts.overtaken;
    switched += job.switched;
    restored += job.counts.restored_overtaken;
  }
  CHECK(is_exercised(overtaken, 200, 200));
  CHECK(is_exercised(switched, 100, 200));
  CHECK(is_exercised(restored, 50, 200));
}

TEST_CASE("a coordinator that takes over goes on with barriers that overtake") {
  std::uint64_t overtaken = 0, recoveries = 0;
  for (const auto seed : seeds(100)) {
    Job job(seed);
    job.with.search = seconds(10);
    job.with.chaos.until = seconds(6);
    job.with.chaos.coordinator_kill = milliseconds(400);
    job.with.chaos.kill = milliseconds(1'000);
    job.run();
    overtaken += job.counts.overtaken;
    recoveries += job.recoveries;
  }
  CHECK(is_exercised(overtaken, 100, 100));
  CHECK(is_exercised(recoveries, 100, 100));
}

TEST_CASE("a savepoint has nothing under way, stays, and other numbers of replicas go on from it") {
  std::uint64_t overtaken = 0, taken = 0;
  for (const auto seed : seeds(150)) {
    store::MemoryStore store;
    Job first(seed);
    first.with.store = &store;
    first.with.chaos = everything(Random(seed));
    first.with.search = seconds(10);
    if (seed % 3 == 0) first.with.chaos.coordinator_kill = milliseconds(700);
    first.begun = [&](Cluster& cluster) {
      for (Time at{}; at < seconds(6); at += first.random.below(1'000) * milliseconds(1)) {
        cluster.ask_at(at, cluster::SavepointRequest{"s" + std::to_string(at.count())});
      }
    };
    first.run();
    overtaken += first.counts.overtaken;
    taken += first.savepoints.size();

    const auto kept = *store.savepoints();
    for (const auto& [name, snapshot] : first.savepoints) {
      REQUIRE(kept.contains(name));
      CHECK(kept.at(name) == snapshot);
      const auto manifest = store.manifest(snapshot);
      REQUIRE(manifest);
      CHECK(state::check_nothing_under_way(store, *manifest).ok());
    }
    if (first.savepoints.empty()) continue;
    const auto from =
        std::next(first.savepoints.begin(),
                  static_cast<std::ptrdiff_t>(first.random.below(first.savepoints.size())));
    Job second(seed + 1'000'000);
    second.outside = first.outside;
    second.outside.go_back(from->second);
    second.with.store = &store;
    second.with.job.resume = from->second;
    second.with.job.found = *store.list();
    second.run();
  }
  CHECK(is_exercised(overtaken, 150, 150));
  CHECK(is_exercised(taken, 300, 150));
}

TEST_CASE("a snapshot takes as long as its barriers may wait and a batch takes, whatever waits") {
  // Each batch takes the sink 50 to 200 ms, and several wait in front of it and of the others.
  const auto slowest = [](std::uint64_t seed, std::optional<milliseconds> overtake_after) {
    Job job(seed);
    job.threads = 0;  // Or all replicas of a process wait for one that is slow.
    job.slow = {milliseconds(1), milliseconds(1), milliseconds(100)};
    job.graph = graph_of(job.outside, job.slow, 2, 3, 4);
    job.with = settings_of(seed, job.graph);
    job.with.job.snapshot_timeout = seconds(60);
    job.with.job.overtake_after = overtake_after;
    job.run();
    return job.took;
  };
  const auto median = [](std::vector<Time> all) {
    std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
    return all[all.size() / 2];
  };
  for (const auto seed : seeds(10)) {
    const auto aligned = slowest(seed, std::nullopt), overtaking = slowest(seed, milliseconds(50));
    CHECK(overtaking.size() > aligned.size());
    CHECK(median(aligned) > milliseconds(600));
    CHECK(median(overtaking) < milliseconds(350));
    // Also those near the end, when nothing is left to bring a barrier. The store has its moments.
    CHECK(*std::max_element(overtaking.begin(), overtaking.end()) < median(aligned));
  }
}

}  // namespace piracema::sim
