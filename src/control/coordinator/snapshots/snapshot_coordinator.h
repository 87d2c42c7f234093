#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "control/coordinator/members/journal.h"
#include "control/coordinator/members/members.h"
#include "control/coordinator/snapshots/snapshot_round.h"
#include "control/coordinator_events.h"
#include "control/coordinator_job.h"

namespace piracema::cluster {

/// Begins snapshots and sees them through, one at a time (paper 000, section 2.2: a coordinator
/// puts markers into all sources from time to time, and the snapshot is complete when every
/// operator has saved its state for that marker). Finds the one that a recovery goes back to.
class SnapshotCoordinator {
 public:
  SnapshotCoordinator(Journal& journal, Members& members) : journal_(journal), members_(members) {}

  // ---- one after the other ------------------------------------------------------------------

  /// Parts are being saved, or the manifest is being written.
  bool under_way() const { return round_ || writing(); }
  /// The manifest may be complete any moment: that is waited for, and not given up.
  bool writing() const { return journal_.metadata().snapshots.writing().has_value(); }
  /// When what is being saved has taken too long.
  std::optional<Time> late_at() const;

  /// One for a change of the plan, or of places, holds the sources up.
  void begin(const Job& job, SnapshotPurpose purpose, Time now);
  /// Of the one that is under way, or was last.
  Time begun() const { return begun_; }
  void saved(const Job& job, const runtime::Saved& saved);
  /// Whether this part belongs to it.
  bool expects(SnapshotId id) const { return round_ && round_->id() == id; }
  bool writes(SnapshotId id) const;
  /// A replica may end without ever seeing a barrier that is on its way, as nothing is left to
  /// bring it: it is asked directly. So are those that wait for nothing but ends, where barriers
  /// may overtake these. One that has saved already takes no notice.
  void ended(const Job& job, ReplicaId replica);
  /// The manifest is there.
  SavedSnapshot completed(Time now);
  /// Its purpose is handed back. `counts`: the job is active, so that the snapshot itself failed.
  SnapshotPurpose give_up(const std::string& why, bool counts);
  /// A job that was taken over: its manifest is written once more, and one that was not saved by
  /// all (`open`, until this coordinator's term began) is given up.
  void resume(std::optional<SnapshotId> open, const std::optional<Job>& job, Time now);
  /// Of that, once all workers are ready: the barriers of one that was given up may be on their way
  /// to some replicas only, and no other snapshot could pass them. All are asked for it again.
  void complete_barriers(const Job& job);

  // ---- what to go back to -------------------------------------------------------------------

  /// It has to be looked for before anybody goes back to it.
  void want_search() { search_ = Search::wanted; }
  /// Looks, if that is wanted; true if it is there.
  bool look();
  void found();
  bool asked() const { return search_ == Search::asked; }

 private:
  void trigger(const Job& job, SnapshotId id, SnapshotPurpose purpose,
               const std::vector<ReplicaId>& replicas);
  void trigger_first(const Job& job, SnapshotId id, SnapshotPurpose purpose);
  bool overtakes(SnapshotPurpose purpose) const {
    return may_overtake(purpose) && journal_.settings().overtake_after;
  }
  bool senders_ended(const Job& job, ReplicaId replica) const;
  std::vector<ReplicaId> left_alone_by(const Job& job, ReplicaId ended) const;
  void write(const Job& job, const SavedSnapshot& snapshot);

  Journal& journal_;
  Members& members_;
  std::optional<SnapshotRound> round_;
  /// Of the one that is under way.
  Time begun_{};
  /// Of the last one that all have saved, for people: a coordinator that takes over does not know.
  std::uint64_t under_way_ = 0;
  /// Of what a recovery goes back to.
  enum class Search { wanted, asked, found } search_ = Search::found;
};

}  // namespace piracema::cluster
