#pragma once

#include <piracema/blocks.h>

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "run/packet/recorder.h"
#include "run/replica/replica.h"
#include "wire/reader.h"

/// One replica of a small stream, by itself, for the tests of replicas.
namespace piracema::runtime::testing {

struct Counting {
  std::int64_t next = 0, end = 0;
  std::optional<std::int64_t> operator()() {
    return next < end ? std::optional(next++) : std::nullopt;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(next);
  }
};

inline std::int64_t twice(const std::int64_t& n) {
  if (n == 13) throw std::runtime_error("unlucky");
  // Also of an item that a test has damaged.
  return static_cast<std::int64_t>(2 * static_cast<std::uint64_t>(n));
}

struct Total {
  std::int64_t total = 0;
  void operator()(const std::int64_t& n) { total += n; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(total);
  }
};

/// source 0 (of `sources`) > farm of `workers` > sink.
struct Fixture {
  explicit Fixture(std::uint32_t workers = 2, std::uint32_t sources = 1, bool ordered = false)
      : graph(pipeline(source("numbers", Counting{0, 100}).replicas(sources),
                       farm("twice", workers, twice), make_sink(ordered))),
        plan(flow::make_plan(graph.shape)) {}

  static BuildingBlock<std::int64_t, void> make_sink(bool ordered) {
    auto block = sink("total", Total{});
    return ordered ? std::move(block).ordered() : std::move(block);
  }

  Replica& make(ReplicaId id, ReplicaInit beginning = {}) {
    replica = std::make_unique<Replica>(id, plan.replicas[id], graph, std::move(beginning), port,
                                        counters, nullptr);
    replica->begin();
    replica->start();
    for (const auto& output : plan.replicas[id].outputs) {
      for (const ReplicaId to : output.targets) {
        replica->receive(to, Credit{CreditPace::batches_min, 0});
      }
    }
    return *replica;
  }
  void run() {
    while (replica->step() == Replica::Next::again) {
    }
  }

  Graph graph;
  flow::Plan plan;
  Recorder port;
  Counters counters;
  std::unique_ptr<Replica> replica;
};

inline Batch batch_of(std::vector<std::int64_t> values, std::uint64_t sequence = 0,
                      std::uint32_t origin = 0) {
  Batch batch;
  for (const std::int64_t value : values) batch.add(static_cast<std::uint64_t>(value), value);
  batch.order = {origin, sequence, Order::whole};
  return batch;
}

}  // namespace piracema::runtime::testing
