#include "control/coordinator/snapshots/snapshot_coordinator.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "state/redistribution.h"

namespace piracema::cluster {

std::optional<Time> SnapshotCoordinator::late_at() const {
  if (!round_) return std::nullopt;
  return round_->begun() + journal_.settings().snapshot_timeout;
}

bool SnapshotCoordinator::writes(SnapshotId id) const {
  const auto& writing = journal_.metadata().snapshots.writing();
  return writing && writing->id == id;
}

void SnapshotCoordinator::begin(const Job& job, SnapshotPurpose purpose, Time now) {
  const JobMetadata& metadata = journal_.metadata();
  const SnapshotId id = metadata.snapshots.next_id();
  journal_.decide(SnapshotBegun{id});
  round_.emplace(id, metadata.epoch, purpose, now, job.replicas());
  begun_ = now;
  trigger_first(job, id, purpose);
}

void SnapshotCoordinator::trigger_first(const Job& job, SnapshotId id, SnapshotPurpose purpose) {
  std::vector<ReplicaId> first;
  for (ReplicaId replica = 0; replica < job.replicas(); ++replica) {
    const bool asked = journal_.metadata().has_ended(replica) || job.may_begin_barriers(replica) ||
                       (overtakes(purpose) && senders_ended(job, replica));
    if (asked) first.push_back(replica);
  }
  trigger(job, id, purpose, first);
}

void SnapshotCoordinator::trigger(const Job& job, SnapshotId id, SnapshotPurpose purpose,
                                  const std::vector<ReplicaId>& replicas) {
  runtime::Trigger trigger{.epoch = journal_.metadata().epoch,
                           .snapshot = id,
                           .replicas = {},
                           .complete = journal_.metadata().snapshots.newest().value_or(0),
                           .hold = holds_sources(purpose)};
  if (overtakes(purpose)) trigger.patience = *journal_.settings().overtake_after;
  members_.send_by_slot(job, replicas, [&](const auto& hosted) {
    trigger.replicas = hosted;
    return trigger;
  });
}

void SnapshotCoordinator::complete_barriers(const Job& job) {
  const SnapshotBook& book = journal_.metadata().snapshots;
  const auto& given_up = book.given_up();
  if (!given_up.empty() && given_up.back() + 1 == book.next_id()) {
    trigger_first(job, given_up.back(), SnapshotPurpose::interval);
  }
}

void SnapshotCoordinator::saved(const Job& job, const runtime::Saved& saved) {
  round_->saved(saved);
  if (!round_->complete()) return;
  under_way_ = round_->under_way();
  journal_.decide(SnapshotSaved{round_->result()});
  round_.reset();
  write(job, *journal_.metadata().snapshots.writing());
}

void SnapshotCoordinator::write(const Job& job, const SavedSnapshot& snapshot) {
  store::Manifest manifest{.snapshot = snapshot.id,
                           .epoch = snapshot.epoch,
                           .job = job.graph,
                           .layouts = job.layouts_by_node(),
                           .nodes = state::nodes_of(job.shape),
                           .finished = snapshot.purpose == SnapshotPurpose::final};
  for (const SavedPart& part : snapshot.parts) {
    std::vector<store::PartFile> files;
    for (const auto& file : part.files) files.push_back({file.snapshot, file.replica});
    manifest.parts.push_back(
        {part.replica, part.bytes, part.checksum, part.indexed, std::move(files)});
  }
  journal_.act(CommitSnapshot{std::move(manifest)});
}

void SnapshotCoordinator::ended(const Job& job, ReplicaId replica) {
  if (!round_) return;
  std::vector<ReplicaId> asked{replica};
  if (overtakes(round_->purpose())) asked = left_alone_by(job, replica);
  std::erase_if(asked, [this](ReplicaId each) { return round_->has(each); });
  if (!asked.empty()) trigger(job, round_->id(), round_->purpose(), asked);
}

bool SnapshotCoordinator::senders_ended(const Job& job, ReplicaId replica) const {
  const flow::ReplicaPlan& plan = job.plan.replicas[replica];
  return plan.may_overtake() &&
         std::all_of(plan.inputs.begin(), plan.inputs.end(), [this](const auto& input) {
           return journal_.metadata().has_ended(input.from);
         });
}

// With it, and if it was the last of its node, those that it sent to.
std::vector<ReplicaId> SnapshotCoordinator::left_alone_by(const Job& job, ReplicaId ended) const {
  std::vector<ReplicaId> alone{ended};
  const flow::ReplicaPlan& plan = job.plan.replicas[ended];
  const ReplicaId first = ended - plan.index;
  for (ReplicaId same = first; same < first + job.shape.nodes[plan.node].replicas; ++same) {
    if (!journal_.metadata().has_ended(same)) return alone;
  }
  for (const flow::OutputPlan& output : plan.outputs) {
    for (const ReplicaId receiver : output.targets) {
      if (senders_ended(job, receiver)) alone.push_back(receiver);
    }
  }
  return alone;
}

SavedSnapshot SnapshotCoordinator::completed(Time now) {
  const SavedSnapshot snapshot = *journal_.metadata().snapshots.writing();
  const auto dropped =
      journal_.metadata().snapshots.dropped_with(snapshot.id, journal_.settings().snapshots_kept);
  journal_.decide(SnapshotCompleted{snapshot.id});
  journal_.tell(SnapshotTaken{snapshot.id, snapshot.bytes(), now - begun_, under_way_});
  for (const SnapshotId id : dropped) journal_.act(DropSnapshot{id});
  return snapshot;
}

SnapshotPurpose SnapshotCoordinator::give_up(const std::string& why, bool counts) {
  ENSURE(under_way());
  const SnapshotBook& book = journal_.metadata().snapshots;
  const SnapshotId id = round_ ? round_->id() : book.writing()->id;
  const SnapshotPurpose purpose = round_ ? round_->purpose() : book.writing()->purpose;
  round_.reset();
  journal_.decide(SnapshotGivenUp{id, counts && purpose == SnapshotPurpose::final});
  journal_.tell(SnapshotAborted{id, why});
  // Room at once, for the disk may be full; and again after the next complete snapshot, as parts
  // of this one may still be on their way.
  journal_.act(DropSnapshot{id});
  return purpose;
}

void SnapshotCoordinator::resume(std::optional<SnapshotId> open, const std::optional<Job>& job,
                                 Time now) {
  if (open) {
    journal_.tell(SnapshotAborted{*open, "its coordinator was lost"});
    journal_.act(DropSnapshot{*open});
  }
  begun_ = now;
  if (writing()) write(*job, *journal_.metadata().snapshots.writing());
}

// A directory may be moved or removed under a job that runs. Replacements could then be started for
// ever, and none would join.
bool SnapshotCoordinator::look() {
  if (search_ == Search::wanted) {
    search_ = Search::asked;
    journal_.act(FindSnapshot{journal_.metadata().snapshots.newest()});
  }
  return search_ == Search::found;
}

void SnapshotCoordinator::found() {
  if (search_ == Search::asked) search_ = Search::found;
}

}  // namespace piracema::cluster
