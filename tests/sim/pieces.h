#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "flow/states.h"
#include "sim/stream_parts.h"
#include "sim/test_place.h"

/// Jobs of simulations: run under all faults, or piece by piece.
namespace piracema::sim {

inline MakeWorker workers(const Graph& graph, std::uint64_t seed) {
  return [&graph, seed](Slot slot, ProcessHost& host) {
    return make_stream_worker(graph, slot, host, seed % 3, nullptr, test_place());
  };
}

/// Runs it to its end while all goes wrong that can. Returns how often it recovered.
inline std::uint64_t come_through(const Graph& graph, Outside& outside, std::uint64_t seed) {
  Cluster::Settings with = settings_of(seed, graph);
  with.chaos = everything(Random(seed));
  Cluster cluster(with, workers(graph, seed));
  Random random(seed);
  for (Time at{}; at < with.chaos.until; at += random.below(3'000) * std::chrono::milliseconds(1)) {
    cluster.scheduler().at(at, [&] { outside.throwing = 1; });
  }
  REQUIRE(cluster.run(std::chrono::seconds(200)));
  CHECK(cluster.finish()->code == 0);
  return cluster.coordinator().epoch() - 1;
}

/// A job that is stopped and goes on, and is killed on the way, until it has ended.
struct Pieces {
  explicit Pieces(std::uint64_t of) : seed(of), random(of) {}

  std::uint32_t upto(std::uint32_t most) {
    return 1 + static_cast<std::uint32_t>(random.below(most));
  }
  void run() {
    store::MemoryStore store;
    std::optional<SnapshotId> resume;
    int code = 75;
    for (std::uint64_t piece = 0; piece < 100 && code != 0; ++piece) {
      const Graph graph = next();
      Cluster::Settings with = settings_of(seed * 1'000 + piece, graph);
      with.layouts = flow::state_types_of(graph).layouts;
      with.job.slots = upto(4);
      with.job.resume = resume;
      with.job.found = *store.list();
      with.job.snapshot_interval = std::chrono::milliseconds(100);
      with.job.overtake_after.reset();  // Else other numbers may be refused.
      with.store = &store;
      if (random.chance(0.7)) {
        with.chaos.until = std::chrono::milliseconds(600);
        with.chaos.kill = std::chrono::milliseconds(300);
        with.chaos.crash = std::chrono::milliseconds(600);
      }
      Cluster cluster(with, workers(graph, seed));
      cluster.stop_at(stopped_after());
      REQUIRE(cluster.run(std::chrono::seconds(120)));
      code = cluster.finish()->code;
      // It may be told to stop before it has begun, and the store may be too slow for a stop: then
      // it goes on from what was complete before.
      const bool late = cluster.finish()->why.starts_with("stopped, but no snapshot was complete");
      CAPTURE(cluster.finish()->why);
      REQUIRE((code == 75 || code == 0 || (code == 143 && !resume) || (code == 1 && late)));
      resume = cluster.coordinator().metadata().snapshots.newest();
      if (code == 75) stopped(resume.has_value());
    }
    CHECK(code == 0);
  }

  const std::uint64_t seed;
  Random random;
  Outside outside;
  /// The program of the next piece.
  std::function<Graph()> next;
  std::function<Time()> stopped_after;
  /// Hears whether there is a snapshot to go on from.
  std::function<void(bool resumes)> stopped;
};

}  // namespace piracema::sim
