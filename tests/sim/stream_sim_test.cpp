#include <doctest/doctest.h>

#include <algorithm>

#include "sim/seeds.h"
#include "sim/stream_parts.h"

namespace piracema::sim {

using namespace cluster;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

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

/// A stream with two farms; the seed chooses how many there are of each and how items travel.
struct Stream {
  explicit Stream(std::uint64_t seed) : threads(seed % 3) {
    Random random(seed);
    sources = 1 + static_cast<std::uint32_t>(random.below(2));
    ordered = random.chance(0.5);
    const auto farms = [&] { return 1 + static_cast<std::uint32_t>(random.below(3)); };
    auto count = source("count", Count{items}).replicas(sources);
    auto work = farm("work", farms(), Work{&outside});
    auto pass = farm("pass", farms(), [](const std::uint64_t& item) { return item; });
    auto write = sink("write", Write{&outside});
    switch (random.below(3)) {
      case 0:
        pass = std::move(pass).round_robin();
        break;
      case 1:
        pass = std::move(pass).by_key([](const std::uint64_t& item) { return item; });
        break;
      default:
        break;
    }
    if (ordered) {
      write = std::move(write).ordered();
    } else {
      write = std::move(write).replicas(1 + static_cast<std::uint32_t>(random.below(2)));
    }
    graph = pipeline(std::move(count), std::move(work), std::move(pass), std::move(write));
  }

  MakeWorker workers() {
    return [this](Slot slot, ProcessHost& host) {
      return make_stream_worker(graph, slot, host, threads);
    };
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
  /// Of each process, for all its replicas; 0: one each.
  const std::size_t threads;
  std::uint32_t sources = 1;
  bool ordered = false;
  Outside outside;
  Graph graph;
};

}  // namespace

TEST_CASE("a stream without faults gives every item once") {
  for (const auto seed : seeds(50)) {
    Stream stream(seed);
    Cluster cluster(settings_of(seed, stream.graph), stream.workers());
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
    Cluster::Settings with = settings_of(seed, stream.graph);
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

TEST_CASE("items flow while a job has no coordinator, and nothing is rolled back for another one") {
  for (const auto seed : seeds(200)) {
    Stream stream(seed);
    Cluster::Settings with = settings_of(seed, stream.graph);
    with.search = seconds(30);
    Cluster cluster(with, stream.workers());
    const Time killed = milliseconds(1'000) + Random(seed).below(1'000) * milliseconds(1);
    cluster.kill_coordinator_at(killed, seconds(1));
    std::uint64_t before = 0, after = 0;
    cluster.scheduler().at(killed + milliseconds(100), [&] { before = stream.outside.worked; });
    cluster.scheduler().at(killed + milliseconds(900), [&] { after = stream.outside.worked; });
    REQUIRE(cluster.run(seconds(60)));
    CHECK(cluster.finish()->code == 0);
    CHECK(cluster.log().term == 2);
    CHECK(after > before);
    CHECK(cluster.coordinator().epoch() == 1);
    CHECK(cluster.spawned() == 3);
    stream.check_output();
  }
}

TEST_CASE("a stream gives every item once where each action of its coordinator is done twice") {
  for (const auto seed : seeds(200)) {
    Stream stream(seed);
    Cluster::Settings with = settings_of(seed, stream.graph);
    with.twice = true;
    if (seed % 4 != 0) with.chaos = everything(Random(seed));
    Cluster cluster(with, stream.workers());
    if (seed % 4 != 0) {
      cluster.scheduler().at(milliseconds(500), [&] { stream.outside.throwing = 1; });
    }
    REQUIRE(cluster.run(seconds(200)));
    CHECK(cluster.finish()->code == 0);
    if (seed % 4 == 0) CHECK(cluster.coordinator().epoch() == 1);
    stream.check_output();
  }
}

TEST_CASE("a stream gives every item once, whoever is killed, its coordinators too") {
  std::uint64_t terms = 0;
  for (const auto seed : seeds(300)) {
    Stream stream(seed);
    Cluster::Settings with = settings_of(seed, stream.graph);
    with.search = seconds(30);
    with.chaos = everything(Random(seed));
    with.chaos.coordinator_kill = milliseconds(1'500);
    Cluster cluster(with, stream.workers());
    REQUIRE(cluster.run(seconds(200)));
    CHECK(cluster.finish()->code == 0);
    stream.check_output();
    terms += cluster.log().term - 1;
  }
  CHECK((terms > 0 || tracing()));
}

TEST_CASE("a stream that is stopped again and again and resumed gives every item once") {
  for (const auto seed : seeds(100)) {
    Stream stream(seed);
    store::MemoryStore store;
    std::optional<SnapshotId> resume;
    int code = 75;
    for (int run = 0; run < 100 && code != 0; ++run) {
      Cluster::Settings with =
          settings_of(seed * 1'000 + static_cast<std::uint64_t>(run), stream.graph);
      with.job.resume = resume;
      with.store = &store;
      Cluster cluster(with, stream.workers());
      cluster.stop_at(milliseconds(400));
      REQUIRE(cluster.run(seconds(60)));
      code = cluster.finish()->code;
      // It may be told to stop before it has begun.
      REQUIRE((code == 75 || code == 0 || (code == 143 && !resume)));
      resume = cluster.coordinator().metadata().snapshots.newest();
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
    Cluster::Settings with = settings_of(seed, stream.graph);
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
