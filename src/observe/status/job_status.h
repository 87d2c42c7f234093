#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "observe/status/job_facts.h"
#include "observe/status/lag.h"
#include "observe/status/seconds_histogram.h"

namespace piracema::observe {

/// How a replica or the replicas of a node spend their time; the three are the time that passed.
struct TimeSpent {
  Time busy{}, blocked{}, idle{};

  Time all() const { return busy + blocked + idle; }
  TimeSpent& operator+=(const TimeSpent& other);
};

/// Of a replica, or of all replicas of a node together. Work that was redone counts each time.
struct WorkStatus {
  std::uint64_t items_in = 0, items_out = 0, bytes_in = 0, bytes_out = 0;
  TimeSpent spent;
  /// Packets that have come and wait for their turn.
  std::uint64_t queued = 0;
  /// Of its part of the newest snapshot for which it has saved one.
  std::uint64_t state_bytes = 0;
  /// How far event time has come behind what was sent, since 1970: at the replica that is furthest
  /// behind of those where it is known.
  std::optional<Time> event_time;
  /// Items that were behind event time when they came, since the job began.
  std::uint64_t items_late = 0;
  /// Over the last seconds.
  double items_in_rate = 0, items_out_rate = 0, bytes_in_rate = 0, bytes_out_rate = 0;
  TimeSpent lately;

  WorkStatus& operator+=(const WorkStatus& other);
};

/// What part of the last seconds went into this, from 0 to 1.
double busy_share(const WorkStatus& work);
double blocked_share(const WorkStatus& work);

struct ReplicaStatus {
  std::uint32_t node = 0, index = 0;
  Slot slot = 0;
  bool ended = false;
  /// For how long its event time, or that it has none, has been as it is.
  Time event_time_still{};
  WorkStatus work;
};

struct NodeStatus {
  std::string name, role;
  std::uint32_t replicas = 1;
  bool ordered = false;
  WorkStatus work;
  /// The replica with the most to do.
  std::uint32_t busiest = 0;
  double busiest_share = 0;
  /// Nothing of a source, or where it is not known.
  std::optional<Waiting> waiting;
};

struct EdgeStatus {
  std::uint32_t from = 0, to = 0;
  std::string delivery;
  bool back = false, combined = false;
};

/// A slot of the job and the process that has it, or had it last.
struct WorkerStatus {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  std::uint64_t pid = 0;
  std::string host, replicas;
  bool joined = false;
  /// Since the start of the job; of the last sign of life.
  Time joined_at{}, heard_at{};
  /// CPU time of this process.
  Time cpu{};
};

/// A host of the job, whether something runs there or not.
struct HostStatus {
  std::string name;
  /// "here", "called", "silent", "lost", "draining", "drained": a word for people.
  std::string state;
  /// Since then, as far as anybody has looked.
  Time since{};
};

struct SnapshotStatus {
  SnapshotId snapshot = 0;
  Time at{}, took{};
  std::uint64_t bytes = 0;
  /// Empty: it is complete.
  std::string failed;
  /// Of `bytes`, items that its barriers have overtaken.
  std::uint64_t under_way = 0;
  auto fields() { return std::tie(snapshot, at, took, bytes, failed, under_way); }
};

/// What was noticed of a process or of an operator.
struct LossStatus {
  Time at{};
  /// "worker 1", or the name of a replica.
  std::string who;
  std::string replicas;
  std::string how;
  /// `name_of` a cluster::LossCause, or "operator_failed".
  std::string cause;
  /// A process that was killed on order, and when.
  std::optional<Time> killed_at;
  auto fields() { return std::tie(at, who, replicas, how, cause, killed_at); }
};

/// Losses, and the way back from them.
struct FailureStatus {
  std::vector<LossStatus> losses;
  /// 0: no recovery has begun.
  Epoch epoch = 0;
  std::optional<SnapshotId> restore;
  std::uint64_t redone = 0;
  std::optional<Time> recovering_at, running_at, first_out_at;
  Time noticed_at() const { return losses.empty() ? Time{} : losses.front().at; }
  auto fields() {
    return std::tie(losses, epoch, restore, redone, recovering_at, running_at, first_out_at);
  }
};

/// A change of the numbers of replicas or processes: the one that is under way, or the last one.
struct ScaleStatus {
  std::string change;
  Time asked_at{};
  /// It is over: done, or given up, and why.
  bool over = false, done = false;
  std::string why;
  /// Since it was asked for, and since sources stopped.
  Time took{}, paused{};
  auto fields() { return std::tie(change, asked_at, over, done, why, took, paused); }
};

/// A savepoint that the job was asked for: the one that is being taken, or the last one.
struct SavepointStatus {
  std::string name;
  Time asked_at{};
  bool over = false;
  /// None of one that is over: it was not taken, and why.
  std::optional<SnapshotId> snapshot;
  std::string why;
  Time took{};
  auto fields() { return std::tie(name, asked_at, over, snapshot, why, took); }
};

/// By which hosts what all replicas of a node get goes from a process, since it is another way than
/// straight from there: "a to b c; b to d".
struct BroadcastStatus {
  Slot from = 0;
  std::string node, tree;
  Time at{};
};

/// Items a second that left the sources and that reached the sinks, up to `at`.
struct SampleStatus {
  Time at{};
  double in = 0, out = 0;
  /// Of all replicas: what part of their time was busy, and blocked.
  double busy = 0, blocked = 0;
  auto fields() { return std::tie(at, in, out, busy, blocked); }
};
/// Two become one each, as far apart again as they were.
void halve(std::vector<SampleStatus>& samples);

/// What has happened to a job. Times are since its start.
struct JobHistory {
  std::uint32_t processes_started = 0;
  /// The newest ones, oldest first; the counts are of all.
  std::vector<SnapshotStatus> snapshots;
  std::uint64_t snapshots_taken = 0, snapshots_failed = 0, snapshots_bytes = 0;
  SecondsHistogram snapshot_seconds;
  std::vector<FailureStatus> failures;
  std::uint64_t failures_count = 0;
  /// By `LossStatus::cause`.
  std::map<std::string, std::uint64_t> losses_by_cause;
  std::uint64_t recoveries = 0, items_redone = 0, items_skipped = 0;
  SecondsHistogram recovery_seconds;
  std::optional<ScaleStatus> scale;
  /// Those that were begun.
  std::uint64_t scales_count = 0;
  std::optional<SavepointStatus> savepoint;
  /// Those that were begun.
  std::uint64_t savepoints_count = 0;
  /// Evenly over all of the job.
  std::vector<SampleStatus> samples;

  auto fields() {
    return std::tie(processes_started, snapshots, snapshots_taken, snapshots_failed,
                    snapshots_bytes, snapshot_seconds, failures, failures_count, losses_by_cause,
                    recoveries, items_redone, items_skipped, recovery_seconds, scale, scales_count,
                    savepoint, savepoints_count, samples);
  }
};

/// All that is known of a job at one moment. Never changed once it was published. Times are since
/// the start of the job.
struct JobStatus : JobHistory {
  JobFacts facts;
  /// In seconds since 1970, and since the start.
  double now = 0;
  Time at{};
  std::string phase;
  Epoch epoch = 0;
  bool running = false;

  /// Once each although they may have been redone.
  std::uint64_t items = 0, bytes = 0;
  /// From 0 to 1; below 0: the sources do not know.
  double read = -1;

  /// How far sinks are behind sources, where it is known.
  std::optional<Time> lag;

  std::vector<NodeStatus> nodes;
  std::vector<EdgeStatus> edges;
  std::vector<ReplicaStatus> replicas;
  std::vector<WorkerStatus> workers;
  /// Empty where nobody tells: mpirun has started all.
  std::vector<HostStatus> hosts;
  std::vector<BroadcastStatus> broadcasts;

  /// Set when the job is over.
  bool over = false;
  int code = 0;
  std::string why;
};

/// What holds the job back, in one sentence for people: a node that is busy, or else a replica at
/// which event time stands still.
std::string bottleneck(const JobStatus& status);

}  // namespace piracema::observe
