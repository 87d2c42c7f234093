#pragma once

#include <algorithm>
#include <deque>
#include <optional>

#include "base/ids.h"

namespace piracema::runtime {

/// What the coordinator has asked a replica for: snapshots that it is to take, and snapshots that
/// it is to commit; in which order it does so, and what it has done already. Pure.
class SnapshotRequests {
 public:
  /// With `hold` nothing is sent once it has been saved, until the next trigger.
  void trigger(SnapshotId snapshot, bool hold) {
    triggers_.push_back(snapshot);
    hold_after_ = hold ? std::optional(snapshot) : std::nullopt;
  }
  void commit(SnapshotId snapshot) { commits_.push_back(snapshot); }

  struct Next {
    enum class What { commit, save } what;
    SnapshotId snapshot;
  };
  /// What is to be done next, which is then asked for no more. `may_save`: the replica takes
  /// snapshots by triggers, not by barriers.
  std::optional<Next> take(bool may_save);

  void saved(SnapshotId snapshot) { last_saved_ = snapshot; }
  void committed(SnapshotId snapshot) {
    last_committed_ = std::max(last_committed_.value_or(0), snapshot);
  }
  SnapshotId last_saved() const { return last_saved_; }
  /// A coordinator that has taken the job over says once more what may have been said before.
  bool was_committed(SnapshotId snapshot) const {
    return last_committed_ && snapshot <= *last_committed_;
  }
  /// Nothing is to be sent.
  bool is_held() const { return hold_after_ && last_saved_ >= *hold_after_; }

 private:
  std::deque<SnapshotId> triggers_;
  std::deque<SnapshotId> commits_;
  std::optional<SnapshotId> last_committed_;
  SnapshotId last_saved_ = 0;
  std::optional<SnapshotId> hold_after_;
};

}  // namespace piracema::runtime
