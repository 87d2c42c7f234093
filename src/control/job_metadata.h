#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "control/coordinator_settings.h"
#include "control/decision.h"
#include "control/messages/control.h"
#include "control/restart_budget.h"
#include "control/snapshot_book.h"

namespace piracema::cluster {

/// One process of a slot.
struct ProcessId {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  auto fields() { return std::tie(slot, incarnation); }
  bool operator==(const ProcessId&) const = default;
};

/// All that has to be known of a job to coordinate it: a value, changed by decisions alone. Whoever
/// has it can take the job over (docs/design/015-the-coordinators-truth.md).
struct JobMetadata {
  JobMetadata() = default;
  /// Of a job that begins. The settings are valid.
  explicit JobMetadata(JobSettings with);

  JobSettings settings;
  /// How many processes have coordinated it, one after the other.
  std::uint64_t term = 0;

  /// As the workers send it; empty until the first one has joined.
  std::string program;
  /// What runs: the program, with other numbers of replicas if the job was scaled.
  std::string graph;
  std::vector<std::string> layouts;
  /// Slot of every replica.
  std::vector<Slot> placement;
  /// Of the process that has the slot, or will have it next. Also of slots that the job once had.
  std::vector<std::uint32_t> incarnations;
  /// Processes of old that could not be ended for certain.
  std::vector<ProcessId> may_live;

  Epoch epoch = 0;
  /// The epoch's work counts; false before the first one, and while another one has to follow.
  bool epoch_holds = false;
  /// Each replica of this plan was started once, in this epoch or before.
  bool started = false;
  /// Epochs in a row that have given neither an item nor a snapshot.
  std::uint32_t fruitless = 0;
  /// Replicas that have ended in this epoch, in their order.
  std::vector<ReplicaId> ended;

  SnapshotBook snapshots;
  /// Items that the sources had emitted at the newest snapshot, and at the last Deploy.
  std::uint64_t emitted_at_snapshot = 0, emitted_at_deploy = 0;
  /// Failures in a row of the snapshot that ends the job.
  std::uint32_t final_failures = 0;

  RestartBudget budget{0, 0};
  std::vector<runtime::Skip> skips;

  bool stop_requested = false;
  /// What sinks commit for the last time in this epoch.
  std::optional<SnapshotId> last_commit;
  std::optional<JobEnded> end;

  /// The plan that is to follow, while the job is being scaled.
  std::optional<ScaleBegun> scale;

  /// Of a job whose hosts come and go. Nothing here follows from them.
  HostsOfJob hosts;

  /// Slots that have a process, or are to have one before the plan changes.
  std::uint32_t slots_wanted() const;
  bool has_ended(ReplicaId replica) const;
  bool all_ended() const { return !placement.empty() && ended.size() == placement.size(); }

  /// Errc::corrupt for a decision that nobody could have taken here; then nothing has changed but
  /// what may be thrown away.
  Result<Done> apply(const Decision& decision);

  /// With a version and a checksum.
  Buffer encode() const;
  /// Also of the versions before this. Errc::corrupt for bytes that are no metadata, or cannot be
  /// true; Errc::refused for another version.
  static Result<JobMetadata> decode(Bytes bytes);

 private:
  Result<Done> check() const;

  Result<Done> on(const TermRaised&);
  Result<Done> on(const JobPlanned&);
  Result<Done> on(const EpochRaised&);
  Result<Done> on(const EpochEnded&);
  Result<Done> on(const EpochFruitful&);
  Result<Done> on(const ProcessReplaced&);
  Result<Done> on(const ProcessGone&);
  Result<Done> on(const ReplicaEnded&);
  Result<Done> on(const SnapshotBegun&);
  Result<Done> on(const SnapshotSaved&);
  Result<Done> on(const SnapshotCompleted&);
  Result<Done> on(const SnapshotGivenUp&);
  Result<Done> on(const FailureCounted&);
  Result<Done> on(const ItemBanned&);
  Result<Done> on(const StopAccepted&);
  Result<Done> on(const LastCommitBegun&);
  Result<Done> on(const JobEnded&);
  Result<Done> on(const ScaleBegun&);
  Result<Done> on(const PlanChanged&);
  Result<Done> on(const ScaleGivenUp&);
  Result<Done> on(const HostsChanged&);
  Result<Done> on(const AllStarted&);
};

}  // namespace piracema::cluster
