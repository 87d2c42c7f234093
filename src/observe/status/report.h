#pragma once

#include <piracema/graph.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "control/coordinator_actions.h"

namespace piracema::cluster {

/// Kills the process that hosts a replica (SIGKILL), to see the job survive it.
struct KillOrder {
  std::string node;
  std::uint32_t replica = 0;
  /// Once the sources have read this much of their input, from 0 to 1.
  double at = 0;
};

/// A KillOrder that may have been carried out. Times are since the start of the job.
struct KillReport {
  KillOrder order;
  Slot slot = 0;
  std::optional<Time> killed_at, noticed_at, first_out_at;
};

/// One return to a snapshot, and what made it necessary.
struct RecoveryReport {
  Epoch epoch = 0;
  /// As cluster::Lost and cluster::ReplicaFailed tell it.
  std::vector<std::string> causes;
  std::optional<SnapshotId> restore;
  std::uint64_t redone = 0;
  Time noticed_at{};
  std::optional<Time> running_at, first_out_at;
};

/// What the replicas of a node did, what was redone included.
struct NodeReport {
  std::string name;
  std::uint32_t replicas = 0;
  std::uint64_t items_in = 0, items_out = 0, bytes_in = 0, bytes_out = 0;
  /// In the user's code, and waiting for room at receivers.
  Time busy{}, blocked{};
  /// Items that were behind event time when they came.
  std::uint64_t items_late = 0;
};

struct SnapshotsReport {
  std::uint64_t taken = 0, failed = 0, bytes = 0;
  /// From barrier to complete, of all that were taken.
  Time took{};
  std::optional<SnapshotId> last;
  Time last_at{};
};

/// A change of the numbers of replicas or processes while the job ran, or one that was given up.
struct ScaleReport {
  Time at{};
  std::string change;
  bool done = false;
  std::string why;
  /// Since it was asked for, and since sources stopped.
  Time took{}, paused{};
};

/// A job from start to end, or as far as it has come.
struct JobReport {
  int code = 0;
  /// Empty when all went well.
  std::string why;
  Time took{};
  /// Of the workers that have ended.
  Time cpu{};
  /// The largest worker.
  std::uint64_t peak_bytes = 0;
  std::uint32_t processes_started = 0;
  /// How much of their input the sources have read, from 0 to 1; below 0: they do not know.
  double read = -1;
  /// What came from the sources, once each although it may have been redone. Exact without
  /// recoveries; after one, as exact as the heartbeats before it.
  std::uint64_t items = 0, bytes = 0;
  std::vector<NodeReport> nodes;
  SnapshotsReport snapshots;
  std::vector<RecoveryReport> recoveries;
  std::vector<KillReport> kills;
  std::vector<ScaleReport> scales;
  std::vector<std::pair<Time, Note>> notes;
};

/// A sentence for each node that has had items that were late for event time.
std::vector<std::string> late_items(const JobReport& report);

}  // namespace piracema::cluster
