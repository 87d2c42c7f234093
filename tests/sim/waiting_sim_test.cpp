// Sources that have nothing yet, joins and timers on simulated machines.
#include <doctest/doctest.h>

#include <cereal/types/set.hpp>

#include <algorithm>
#include <set>

#include "sim/seeds.h"
#include "sim/stream_parts.h"

namespace piracema::sim {

using namespace cluster;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// Counts up, and has nothing yet two times of three.
struct Hesitant {
  std::uint64_t end = 0;
  std::uint64_t next = 0;
  std::uint64_t asked = 0;

  Poll<std::uint64_t> operator()() {
    if (next == end) return Poll<std::uint64_t>::end();
    if (++asked % 3 != 0) return Poll<std::uint64_t>::nothing_yet();
    return next++;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(next);
  }
};

/// Keeps what has yet to meet its like, and what has met it for 50 ms more: it leaves by a timer.
struct Match {
  std::set<std::uint64_t> lefts, rights, pairs;
  std::int64_t due = 0;
  std::function<WallTime()> now;

  void start(const Context& context) { now = context.now; }
  void left(const std::uint64_t& item, Emit<std::uint64_t>&) { meet(item, lefts, rights); }
  void right(const std::uint32_t& item, Emit<std::uint64_t>&) { meet(item, rights, lefts); }
  void meet(std::uint64_t item, std::set<std::uint64_t>& own, std::set<std::uint64_t>& other) {
    if (other.erase(item) == 0) {
      own.insert(item);
    } else {
      if (pairs.empty()) due = (now() + milliseconds(50)).time_since_epoch().count();
      pairs.insert(item);
    }
  }
  std::optional<WallTime> next_timer() const {
    if (pairs.empty()) return std::nullopt;
    return WallTime(WallTime::duration(due));
  }
  void on_timer(WallTime, Emit<std::uint64_t>& emit) { finish(emit); }
  void finish(Emit<std::uint64_t>& emit) {
    for (const std::uint64_t item : std::exchange(pairs, {})) emit(item);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(lefts, rights, pairs, due);
  }
};

struct Joined {
  explicit Joined(std::uint64_t seed) : threads(seed % 3) {
    Random random(seed);
    const auto replicas = 1 + static_cast<std::uint32_t>(random.below(3));
    graph = pipeline(
        both(source("hesitant", Hesitant{.end = items}),
             pipeline(source("count", Count{items}),
                      node("narrow", [](const std::uint64_t& item) { return std::uint32_t(item); }))),
        join("match", replicas, Match{})
            .by_keys([](const std::uint64_t& item) { return item; },
                     [](const std::uint32_t& item) { return std::uint64_t{item}; }),
        sink("write", Write{&outside}));
  }
  MakeWorker workers() {
    return [this](Slot slot, ProcessHost& host) {
      return make_stream_worker(graph, slot, host, threads);
    };
  }
  void check_output() {
    auto found = outside.output;
    std::sort(found.begin(), found.end());
    REQUIRE(found.size() == items);
    for (std::uint64_t i = 0; i < items; ++i) CHECK(found[i] == i);
  }

  const std::uint64_t items = 150;
  const std::size_t threads;
  Outside outside;
  Graph graph;
};

}  // namespace

TEST_CASE("every pair of a join comes out once, by its timer, whatever goes wrong on the way") {
  std::uint64_t recoveries = 0;
  for (const auto seed : seeds(300)) {
    Joined job(seed);
    Cluster::Settings with = settings_of(seed, job.graph);
    with.chaos = everything(Random(seed));
    Cluster cluster(with, job.workers());
    REQUIRE(cluster.run(seconds(200)));
    CHECK(cluster.finish()->code == 0);
    job.check_output();
    recoveries += cluster.coordinator().epoch() - 1;
  }
  CHECK((recoveries > 0 || tracing()));
}

TEST_CASE("timers are part of what a seed decides: the same one gives the same order") {
  for (const auto seed : seeds(20)) {
    std::vector<std::uint64_t> outputs[2];
    for (auto& output : outputs) {
      Joined job(seed);
      Cluster::Settings with = settings_of(seed, job.graph);
      with.chaos = everything(Random(seed));
      Cluster cluster(with, job.workers());
      REQUIRE(cluster.run(seconds(200)));
      output = job.outside.output;
    }
    CHECK(outputs[0] == outputs[1]);
  }
}

TEST_CASE("a job whose source has nothing takes snapshots and stops with one") {
  struct Never {
    Poll<std::uint64_t> operator()() { return Poll<std::uint64_t>::nothing_yet(); }
  };
  for (const auto seed : seeds(20)) {
    Outside outside;
    const Graph graph = pipeline(source("never", Never{}), sink("write", Write{&outside}));
    Cluster cluster(settings_of(seed, graph), [&](Slot slot, ProcessHost& host) {
      return make_stream_worker(graph, slot, host, 0);
    });
    cluster.stop_at(seconds(5));
    REQUIRE(cluster.run(seconds(60)));
    CHECK(cluster.finish()->code == 75);
    CHECK(cluster.coordinator().metadata().snapshots.newest() >= 10u);
  }
}

}  // namespace piracema::sim
