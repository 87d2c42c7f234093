#include "control/coordinator/snapshot_coordinator.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "state/redistribution.h"

namespace piracema::cluster {

bool SnapshotCoordinator::late(Time now) const {
  return round_ && now >= round_->begun() + journal_.settings().snapshot_timeout;
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
  next_ = now + journal_.settings().snapshot_interval;
  trigger_first(job, id, holds_sources(purpose));
}

void SnapshotCoordinator::trigger_first(const Job& job, SnapshotId id, bool hold) {
  std::vector<ReplicaId> first;
  for (ReplicaId replica = 0; replica < job.replicas(); ++replica) {
    const bool ended = journal_.metadata().has_ended(replica);
    if (ended || job.may_begin_barriers(replica)) first.push_back(replica);
  }
  trigger(job, id, first, hold);
}

void SnapshotCoordinator::trigger(const Job& job, SnapshotId id,
                                  const std::vector<ReplicaId>& replicas, bool hold) {
  members_.send_by_slot(job, replicas, [&](const auto& hosted) {
    return runtime::Trigger{journal_.metadata().epoch, id, hosted,
                            journal_.metadata().snapshots.newest().value_or(0), hold};
  });
}

void SnapshotCoordinator::complete_barriers(const Job& job) {
  const SnapshotBook& book = journal_.metadata().snapshots;
  const auto& given_up = book.given_up();
  if (!given_up.empty() && given_up.back() + 1 == book.next_id()) {
    trigger_first(job, given_up.back());
  }
}

void SnapshotCoordinator::saved(const Job& job, const runtime::Saved& saved) {
  round_->saved(saved);
  if (!round_->complete()) return;
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
  if (round_ && !round_->has(replica)) trigger(job, round_->id(), {replica});
}

SavedSnapshot SnapshotCoordinator::completed(Time now) {
  const SavedSnapshot snapshot = *journal_.metadata().snapshots.writing();
  const auto dropped =
      journal_.metadata().snapshots.dropped_with(snapshot.id, journal_.settings().snapshots_kept);
  journal_.decide(SnapshotCompleted{snapshot.id});
  journal_.tell(SnapshotTaken{snapshot.id, snapshot.bytes(), now - begun_});
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

void SnapshotCoordinator::resume(const std::optional<Job>& job, Time now) {
  begun_ = now;
  next_ = now + journal_.settings().snapshot_interval;
  if (writing()) write(*job, *journal_.metadata().snapshots.writing());
}

std::optional<Time> SnapshotCoordinator::next_deadline(bool may_begin) const {
  if (round_) return round_->begun() + journal_.settings().snapshot_timeout;
  if (writing() || !may_begin) return std::nullopt;
  return next_;
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
