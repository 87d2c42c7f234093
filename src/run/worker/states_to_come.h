#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "run/worker/layout.h"
#include "state/states_ahead.h"
#include "store/snapshot/snapshot_store.h"

namespace piracema::runtime {

/// States by key that replicas of a process are to begin with by the next plan, and that its
/// replicas of now do not have. No thread inside.
class StatesToCome {
 public:
  /// Those of a plan that may follow; `now` is null where nothing runs yet.
  StatesToCome() = default;
  StatesToCome(const Layout& next, const Layout* now);

  /// What `other` has read of the same counts as read.
  void take_over(StatesToCome other);
  /// Reads what this snapshot has of them; `stop` may end that at any time. What fails is read when
  /// the plan holds, where that is told.
  void read(store::SnapshotStore& store, SnapshotId snapshot, const std::function<bool()>& stop);

  /// What was read for this replica; null: nothing.
  std::unique_ptr<state::StatesAhead> take(const flow::ReplicaPlan& replica);
  /// As they are at this snapshot, which may be newer than the one that was read; null: they cannot
  /// be brought there.
  static std::shared_ptr<state::KeptStates> bring(std::unique_ptr<state::StatesAhead> states,
                                                  store::SnapshotStore& store, SnapshotId snapshot);

 private:
  /// By node and index of the replica.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::unique_ptr<state::StatesAhead>> states_;
};

}  // namespace piracema::runtime
