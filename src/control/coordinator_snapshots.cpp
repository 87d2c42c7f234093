// When snapshots are begun and what becomes of them; paper 000, section 2.2: a coordinator puts
// markers into all sources from time to time, and the snapshot is complete when every operator
// has saved its state for that marker.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "control/coordinator.h"

namespace piracema::cluster {

namespace {
constexpr std::uint32_t final_retries = 3;
}  // namespace

void Coordinator::go_on() {
  if (phase_ != Phase::ending && !last_commit_ && all_ended()) {
    phase_ = Phase::ending;
    next_round_ = now_;
  }
  if (last_commit_ && uncommitted_.empty()) {
    if (phase_ == Phase::stopping) return leave_stopped();
    const bool unsaved = final_failures_ > final_retries;
    return leave(0, unsaved ? "done, although the last snapshot could not be taken" : "");
  }
  if (phase_ == Phase::stopping && now_ >= stop_by_) {
    // What is complete is safe: the sinks commit it when the job is resumed.
    if (last_commit_) return leave_stopped();
    return fail(1, concat("stopped, but no snapshot was complete within ",
                          settings_.snapshot_timeout.count(), " ms"));
  }
  if (!settings_.snapshots) {
    if (phase_ == Phase::ending && !last_commit_) commit_sinks(0, true);
    return;
  }
  if (round_) {
    // A manifest that is being written may be complete any moment: that is waited for.
    if (round_->committing() || now_ < round_->begun() + settings_.snapshot_timeout) return;
    give_up_round(concat("not complete within ", settings_.snapshot_timeout.count(), " ms"));
  }
  if (last_commit_ || !active()) return;
  if (phase_ == Phase::stopping) {
    begin_round(SnapshotRound::Purpose::stop);
  } else if (now_ >= next_round_) {
    begin_round(phase_ == Phase::ending ? SnapshotRound::Purpose::final
                                        : SnapshotRound::Purpose::interval);
  }
}

void Coordinator::begin_round(SnapshotRound::Purpose purpose) {
  round_.emplace(next_id_++, epoch_, purpose, now_, job_->replicas());
  next_round_ = now_ + settings_.snapshot_interval;
  std::vector<ReplicaId> first;
  for (ReplicaId replica = 0; replica < job_->replicas(); ++replica) {
    if (ended_[replica] || job_->may_begin_barriers(replica)) first.push_back(replica);
  }
  trigger(first);
}

void Coordinator::trigger(const std::vector<ReplicaId>& replicas) {
  for (const auto& [slot, hosted] : job_->by_slot(replicas)) {
    send(slot, runtime::Trigger{epoch_, round_->id(), hosted, restore_.value_or(0)});
  }
}

void Coordinator::on(const SnapshotCommitted& committed) {
  if (!round_ || !round_->committing() || committed.snapshot != round_->id()) return;
  const SnapshotRound round = *std::exchange(round_, std::nullopt);
  tell(SnapshotTaken{round.id(), round.bytes(), now_ - round.begun()});
  emitted_at_restore_ = emitted_at_deploy_ + round.emitted();
  fruitless_ = 0;
  final_failures_ = 0;
  keep(round.id());
  // In the middle of a recovery the Deploy that follows restores it, and that commits it too.
  if (!active()) return;
  const bool last = (phase_ == Phase::ending && round.purpose() == SnapshotRound::Purpose::final) ||
                    (phase_ == Phase::stopping && round.purpose() == SnapshotRound::Purpose::stop);
  commit_sinks(round.id(), last);
}

void Coordinator::on(const SnapshotCommitFailed& failed) {
  if (!round_ || !round_->committing() || failed.snapshot != round_->id()) return;
  give_up_round(failed.why);
}

// A directory may be moved or removed under a job that runs. Replacements could then be started for
// ever, and none would join.
void Coordinator::look_for_snapshot() {
  if (search_ != Search::wanted) return;
  search_ = Search::asked;
  act(FindSnapshot{restore_});
}

void Coordinator::on(const SnapshotFound&) {
  if (search_ == Search::asked) search_ = Search::found;
}

void Coordinator::on(const SnapshotGone& gone) {
  if (search_ != Search::asked) return;
  fail(4, concat(why_back_, ", and there is nothing to go back to: ", gone.why));
}

void Coordinator::give_up_round(const std::string& why) {
  const SnapshotRound round = *std::exchange(round_, std::nullopt);
  tell(SnapshotAborted{round.id(), why});
  // Room at once, for the disk may be full; and again after the next complete snapshot, as parts
  // of this one may still be on their way.
  act(DropSnapshot{round.id()});
  given_up_.push_back(round.id());
  if (active()) round_failed(round, why);
}

void Coordinator::round_failed(const SnapshotRound& round, const std::string& why) {
  if (phase_ == Phase::stopping && round.purpose() == SnapshotRound::Purpose::stop) {
    return fail(1, concat("stopped, but the last snapshot failed: ", why));
  }
  if (round.purpose() != SnapshotRound::Purpose::final) return;
  final_failures_ += 1;
  // A disk that takes no snapshots fails those, not the job: it ends like one that takes none. A
  // worker lost between two commits of sinks could then have one of them repeated.
  if (final_failures_ > final_retries) commit_sinks(round.id(), true);
}

// The newest snapshot is what a recovery goes back to; none that is older is needed any more,
// but one that turns out to be damaged is replaced by the one before.
void Coordinator::keep(SnapshotId id) {
  restore_ = id;
  kept_.push_back(id);
  for (; kept_.size() > settings_.snapshots_kept; kept_.erase(kept_.begin())) {
    act(DropSnapshot{kept_.front()});
  }
  for (const SnapshotId other : given_up_) act(DropSnapshot{other});
  given_up_.clear();
}

void Coordinator::commit_sinks(SnapshotId id, bool last) {
  const auto sinks = job_->sinks();
  for (const auto& [slot, hosted] : job_->by_slot(sinks)) {
    send(slot, runtime::Commit{epoch_, id, hosted});
  }
  if (!last) return;
  last_commit_ = true;
  last_commit_id_ = id;
  uncommitted_ = {sinks.begin(), sinks.end()};
}

bool Coordinator::all_ended() const {
  return std::all_of(ended_.begin(), ended_.end(), [](bool ended) { return ended; });
}

}  // namespace piracema::cluster
