#pragma once

#include <piracema/error.h>
#include <piracema/graph.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "flow/plan.h"
#include "state/kept_states.h"
#include "state/saved_files.h"
#include "store/snapshot/snapshot_store.h"

namespace piracema::state {

/// States by key of some groups, read from a snapshot while another replica still changes them: who
/// owns the groups by the next plan has most of them when it begins. Every snapshot adds what has
/// changed since. In memory only. Used by one thread at a time.
class StatesAhead {
 public:
  /// `next` is a replica of the next plan that has a state for each key and owns `groups`; `graph`
  /// is that plan's.
  StatesAhead(std::shared_ptr<const Graph> graph, const flow::ReplicaPlan& next, GroupRange groups);
  ~StatesAhead();

  GroupRange groups() const { return groups_; }
  /// That they are as in; 0: none has been read.
  SnapshotId snapshot() const { return snapshot_; }

  /// Reads what this snapshot has besides the one before, which is older or the same; `stop` may
  /// end that at any time. False: it was ended, it cannot be done, or it is not worth it, as most
  /// of what was read has changed since: there is nothing that could be used, and it begins anew
  /// with the next call. Errors as those of the store, likewise.
  Result<bool> go_to(store::SnapshotStore& store, SnapshotId snapshot,
                     const std::function<bool()>& stop);
  /// It is used no more. Null: nothing has been read.
  std::shared_ptr<KeptStates> take();

 private:
  Result<bool> read(store::SnapshotStore& store, SnapshotId snapshot,
                    const std::function<bool()>& stop);
  void begin();
  void forget();

  const std::shared_ptr<const Graph> graph_;
  const flow::ReplicaPlan next_;
  const GroupRange groups_;

  /// Whose states they are: it never sees an item.
  std::unique_ptr<Operator> operator_;
  KeyedStates* states_ = nullptr;
  std::unique_ptr<SavedFiles> files_;
  SnapshotId snapshot_ = 0;
  /// Of the first one that was read.
  std::uint64_t bytes_ = 0;
};

}  // namespace piracema::state
