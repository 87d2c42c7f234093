#pragma once

#include <piracema/blocks.h>

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/random.h"
#include "sim/cluster.h"
#include "sim/stream_worker.h"

/// What the streams of simulations are made of, and what goes wrong with them.
namespace piracema::sim {

/// What lies outside of the processes, and what no recovery undoes.
struct Outside {
  using Transaction = std::pair<std::uint64_t, SnapshotId>;  // Who wrote it, and for what.
  std::map<Transaction, std::vector<std::uint64_t>> written;
  std::set<Transaction> visible;
  /// What became visible, in that order.
  std::vector<std::uint64_t> output;
  std::uint64_t writers = 0;
  /// Items that farms have worked on, redone ones too.
  std::uint64_t worked = 0;
  /// The next items of this farm throw.
  int throwing = 0;
  /// An item that it always throws on.
  std::optional<std::uint64_t> poison;

  void show(const Transaction& transaction) {
    if (!visible.insert(transaction).second) return;
    const auto& items = written.at(transaction);
    output.insert(output.end(), items.begin(), items.end());
  }

  /// As it was at this snapshot: a job goes on from it once more.
  void go_back(SnapshotId snapshot) {
    const auto is_later = [&](const auto& transaction) { return transaction.second > snapshot; };
    std::erase_if(written, [&](const auto& one) { return is_later(one.first); });
    std::erase_if(visible, is_later);
    output.clear();
    for (const auto& transaction : std::exchange(visible, {})) show(transaction);
  }
};

/// Counts up from a number of its own replica.
struct Count {
  std::uint64_t end = 0;
  std::uint64_t next = 0;
  std::uint64_t base = 0;

  void start(const Context& context) { base += context.replica * 1'000'000u; }
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
    outside->worked += 1;
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
    if (snapshot == 0) {  // Without snapshots, once, at the end.
      outside->output.insert(outside->output.end(), items.begin(), items.end());
    }
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

inline Cluster::Settings settings_of(std::uint64_t seed, const Graph& graph) {
  Cluster::Settings settings;
  settings.seed = seed;
  settings.shape = graph.shape;
  settings.job.slots = 3;
  settings.job.snapshots = true;
  settings.job.snapshot_interval = std::chrono::milliseconds(200);
  settings.job.snapshot_timeout = std::chrono::milliseconds(3'000);
  settings.job.restart_budget = 1'000;
  if (seed % 2 == 0) settings.job.overtake_after = std::chrono::milliseconds(seed % 10);
  settings.reload = reloads(seed);
  return settings;
}

inline Chaos everything(Random random) {
  const auto sometimes = [&](Time mean) { return random.chance(0.5) ? mean : Time{}; };
  Chaos chaos;
  chaos.until = std::chrono::seconds(6);
  chaos.kill = sometimes(std::chrono::milliseconds(400));
  chaos.crash = sometimes(std::chrono::milliseconds(1'000));
  chaos.freeze = sometimes(std::chrono::milliseconds(1'000));
  chaos.disconnect = sometimes(std::chrono::milliseconds(1'000));
  chaos.stall = sometimes(std::chrono::milliseconds(3'000));
  chaos.slow = sometimes(std::chrono::milliseconds(1'000));
  chaos.undead = random.chance(0.5) ? 0.3 : 0;
  if (random.chance(0.5)) chaos.store = {.put = 0.02, .commit = 0.1, .seed = random.next()};
  return chaos;
}

}  // namespace piracema::sim
