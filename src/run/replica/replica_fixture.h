#pragma once

#include <piracema/blocks.h>

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "run/replica/replica.h"
#include "wire/reader.h"

/// One replica of a small stream, by itself, for the tests of replicas.
namespace piracema::runtime::testing {

/// Keeps what a replica does; time stands still, but for `wall`.
class Recorder final : public Port {
 public:
  void send(ReplicaId to, Packet packet) override { sent.emplace_back(to, std::move(packet)); }
  void save(SnapshotId snapshot, std::uint64_t, store::PartContent part) override {
    saved[snapshot].append(part.data.data(), part.data.size());
    if (part.index) indexes[snapshot] = *std::move(part.index);
  }
  void save_piece(SnapshotId snapshot, Buffer piece) override {
    saved[snapshot].append(piece.data(), piece.size());
    pieces[snapshot] += 1;
    unwritten_bytes += piece.size();
  }
  std::uint64_t unwritten() const override { return unwritten_bytes; }
  void ended() override { has_ended = true; }
  void committed(SnapshotId snapshot) override { committed_snapshots.push_back(snapshot); }
  void first_output() override { first_outputs += 1; }
  void failed(std::optional<std::uint64_t> item, std::string why) override {
    failures.emplace_back(item, std::move(why));
  }
  void skipped(std::uint64_t item, Bytes) override { skipped_items.push_back(item); }
  bool wait(std::optional<Time> longest) override { return on_wait && on_wait(longest); }
  std::function<void()> waker() override {
    return [] {};
  }
  Time now() override { return clock; }
  WallTime wall_time() override { return wall; }

  template <class P>
  std::vector<std::pair<ReplicaId, P>> sent_of() const {
    std::vector<std::pair<ReplicaId, P>> all;
    for (const auto& [to, packet] : sent) {
      if (const P* p = std::get_if<P>(&packet)) all.emplace_back(to, *p);
    }
    return all;
  }
  std::vector<std::int64_t> values() const {
    std::vector<std::int64_t> all;
    for (const auto& [to, batch] : sent_of<Batch>()) {
      BatchReader items(batch);
      for (std::uint32_t i = 0; i < batch.count; ++i) {
        all.push_back(Codec<std::int64_t>::decode(items.next()));
      }
    }
    return all;
  }

  std::vector<std::pair<ReplicaId, Packet>> sent;
  std::map<SnapshotId, Buffer> saved;
  std::map<SnapshotId, int> pieces;
  std::uint64_t unwritten_bytes = 0;
  std::map<SnapshotId, store::PartIndex> indexes;
  std::vector<SnapshotId> committed_snapshots;
  std::vector<std::pair<std::optional<std::uint64_t>, std::string>> failures;
  std::vector<std::uint64_t> skipped_items;
  bool has_ended = false;
  int first_outputs = 0;
  WallTime wall{};
  Time clock{};
  std::function<bool(std::optional<Time>)> on_wait;
};

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

  Replica& make(ReplicaId id, Beginning beginning = {}) {
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
