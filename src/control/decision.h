#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "control/hosts_of_job.h"
#include "control/restart_budget.h"
#include "control/snapshot_book.h"

/// What a coordinator decides. A log that holds the decisions holds all that is true of a job
/// (JobMetadata); what was heard and led to them (heartbeats, progress, who is connected) is found
/// out anew.
namespace piracema::cluster {

/// Another process coordinates from here on. Fences those before it.
struct TermRaised {
  std::uint64_t term = 0;
  auto fields() { return std::tie(term); }
};
/// The first worker has joined: what runs, and where.
struct JobPlanned {
  std::string graph;
  std::vector<std::string> layouts;
  std::vector<Slot> placement;
  auto fields() { return std::tie(graph, layouts, placement); }
};
/// All workers begin anew, from the newest complete snapshot.
struct EpochRaised {
  Epoch epoch = 0;
  auto fields() { return std::tie(epoch); }
};
/// What the epoch has done since its newest snapshot is void; another one follows.
struct EpochEnded {
  Epoch epoch = 0;
  auto fields() { return std::tie(epoch); }
};
/// The epoch has done something that earlier ones in a row had not.
struct EpochFruitful {
  Epoch epoch = 0;
  auto fields() { return std::tie(epoch); }
};
/// The slot is the next process's.
struct ProcessReplaced {
  Slot slot = 0;
  /// Of the process that had it.
  std::uint32_t incarnation = 0;
  /// It could not be ended for certain.
  bool may_live = false;
  auto fields() { return std::tie(slot, incarnation, may_live); }
};
/// One that might have lived does not.
struct ProcessGone {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  auto fields() { return std::tie(slot, incarnation); }
};
struct ReplicaEnded {
  ReplicaId replica = 0;
  auto fields() { return std::tie(replica); }
};
struct SnapshotBegun {
  SnapshotId id = 0;
  auto fields() { return std::tie(id); }
};
struct SnapshotSaved {
  SavedSnapshot snapshot;
  auto fields() { return std::tie(snapshot); }
};
/// Its manifest is in the store.
struct SnapshotCompleted {
  SnapshotId id = 0;
  auto fields() { return std::tie(id); }
};
struct SnapshotGivenUp {
  SnapshotId id = 0;
  /// It was to be the last one, and nothing but itself failed.
  bool final = false;
  auto fields() { return std::tie(id, final); }
};
/// Any of these may have brought a process or an operator down.
struct FailureCounted {
  std::vector<Suspect> suspects;
  /// Nobody else did it; else it counts only for the same item.
  bool certain = true;
  auto fields() { return std::tie(suspects, certain); }
};
/// From the next epoch on this item is passed by.
struct ItemBanned {
  Suspect culprit;
  auto fields() { return std::tie(culprit); }
};
struct StopAccepted {
  auto fields() { return std::tie(); }
};
/// Sinks commit for the last time; then the job ends.
struct LastCommitBegun {
  SnapshotId id = 0;
  auto fields() { return std::tie(id); }
};
/// How the job ends. Nothing else is decided after it.
struct JobEnded {
  std::uint32_t code = 0;
  std::string why;
  auto fields() { return std::tie(code, why); }
};

/// The job gets another plan as soon as it stands at a snapshot. Processes of slots that it did not
/// have are started before.
struct ScaleBegun {
  /// The job's graph with other numbers of replicas.
  std::string graph;
  std::vector<Slot> placement;
  std::uint32_t slots = 0;
  auto fields() { return std::tie(graph, placement, slots); }
};
/// It has it, and goes on from its newest snapshot.
struct PlanChanged {
  auto fields() { return std::tie(); }
};
/// It stays as it is.
struct ScaleGivenUp {
  auto fields() { return std::tie(); }
};

/// From here on these are the hosts of the job, of which none is at another place than before.
struct HostsChanged {
  HostsOfJob now;
  auto fields() { return std::tie(now); }
};

/// Each replica of the plan has been started once: what its operators make under names of their own
/// is this job's from here on.
struct AllStarted {
  auto fields() { return std::tie(); }
};

/// The order is that of the format: new ones come last.
using Decision =
    std::variant<TermRaised, JobPlanned, EpochRaised, EpochEnded, EpochFruitful, ProcessReplaced,
                 ProcessGone, ReplicaEnded, SnapshotBegun, SnapshotSaved, SnapshotCompleted,
                 SnapshotGivenUp, FailureCounted, ItemBanned, StopAccepted, LastCommitBegun,
                 JobEnded, ScaleBegun, PlanChanged, ScaleGivenUp, HostsChanged, AllStarted>;

/// As bytes for a log, and back. Errc::corrupt for what is no list of decisions.
Buffer encode_decisions(const std::vector<Decision>&);
Result<std::vector<Decision>> decode_decisions(Bytes);

}  // namespace piracema::cluster
