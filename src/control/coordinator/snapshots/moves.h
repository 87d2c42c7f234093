#pragma once

#include <optional>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/ids.h"
#include "control/coordinator_actions.h"

namespace piracema::cluster {

/// Processes of a job that are to go to better places, and those that are on their way. Not part of
/// what is true of the job: whoever takes it over is told anew.
class Moves {
 public:
  /// In place of those that were wished before.
  void wish(std::set<Slot> slots, bool soon) {
    soon_ = soon && !slots.empty();
    wished_ = std::move(slots);
  }
  /// What follows it begins where there is room: that is for another wish.
  void lost(Slot slot) { wished_.erase(slot); }
  /// Whether the next snapshot is for them.
  bool due() const { return !wished_.empty() && !waits_; }
  /// And whether it is taken at once.
  bool soon() const { return due() && soon_; }

  /// The one that was for them failed: not before another one is complete.
  void failed() { waits_ = true; }
  void completed() { waits_ = false; }

  /// All stand at this snapshot, `since` then: which processes go.
  std::set<Slot> go(SnapshotId snapshot, Time since) {
    since_ = since;
    gone_ = ProcessesMoved{{wished_.begin(), wished_.end()}, snapshot, Time{}};
    return std::exchange(wished_, {});
  }
  /// All run. Nothing if nobody had gone.
  std::optional<ProcessesMoved> arrived(Time now) {
    if (gone_) gone_->paused = now - since_;
    return std::exchange(gone_, std::nullopt);
  }

 private:
  std::set<Slot> wished_;
  bool soon_ = false, waits_ = false;
  std::optional<ProcessesMoved> gone_;
  Time since_{};
};

}  // namespace piracema::cluster
