#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "base/work_queue.h"
#include "run/worker/states_to_come.h"

namespace piracema::runtime {

/// Reads what replicas of a process are to begin with by the next plan, in a thread of its own
/// while those of now go on (docs/design/018); and destroys there what they leave.
class AheadReader {
 public:
  /// `store` outlives it; null: nothing is read.
  explicit AheadReader(store::SnapshotStore* store) : store_(store) {}
  /// Waits for the piece that is being read, and no longer.
  ~AheadReader() { stopped_ = true; }

  // ---- the owner's thread
  /// Reads what this snapshot has of it. `done` is called, on whatever thread, when there is no
  /// more to read or no way to.
  void read(SnapshotId snapshot, StatesToCome wanted, std::function<void()> done);
  /// An epoch begins: reading ends, and what was read is there to be taken.
  void stop() { stopped_ = true; }
  /// No plan is to follow.
  void forget();

  // ---- any thread
  /// What a replica begins with at this snapshot: reads what is new, and gives it away. Null: there
  /// is nothing that it could use.
  std::shared_ptr<state::KeptStates> take(const flow::ReplicaPlan& replica, SnapshotId snapshot);
  /// Destroys it in that thread, as it takes long where there is much.
  void dispose(std::shared_ptr<state::KeptStates> states);

 private:
  WorkQueue& queue();

  store::SnapshotStore* const store_;
  std::atomic<bool> stopped_{false};
  /// Held while it reads.
  std::mutex mutex_;
  StatesToCome states_;
  std::once_flag begun_;
  /// The last member, as its thread uses all others; from the first time on that it is needed.
  std::optional<WorkQueue> queue_;
};

}  // namespace piracema::runtime
