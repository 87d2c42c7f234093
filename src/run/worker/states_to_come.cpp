#include "run/worker/states_to_come.h"

#include <algorithm>

#include "state/group_ranges.h"

namespace piracema::runtime {

namespace {

// What the replica of the same node and index has, which will keep it.
GroupRange owned_now(const Layout* now, const flow::ReplicaPlan& replica) {
  if (now == nullptr) return {};
  for (ReplicaId id = 0; id < now->plan.replicas.size(); ++id) {
    const flow::ReplicaPlan& plan = now->plan.replicas[id];
    if (now->is_here(id) && plan.node == replica.node && plan.index == replica.index) {
      return plan.owned;
    }
  }
  return {};
}

// Of two ranges, at both ends, the larger one: plans of ranges have no two.
GroupRange missing_of(const Layout* now, const flow::ReplicaPlan& replica) {
  GroupRange most;
  for (const GroupRange& range : state::rest_of(replica.owned, owned_now(now, replica))) {
    if (range.count() > most.count()) most = range;
  }
  return most;
}

}  // namespace

StatesToCome::StatesToCome(const Layout& next, const Layout* now) {
  for (ReplicaId id = 0; id < next.plan.replicas.size(); ++id) {
    const flow::ReplicaPlan& replica = next.plan.replicas[id];
    if (!next.is_here(id) || !next.node(id).keyed) continue;
    const GroupRange missing = missing_of(now, replica);
    if (missing.count() == 0) continue;
    states_[{replica.node, replica.index}] =
        std::make_unique<state::StatesAhead>(next.graph, replica, missing);
  }
}

void StatesToCome::take_over(StatesToCome other) {
  for (auto& [which, states] : states_) {
    const auto had = other.states_.find(which);
    if (had == other.states_.end() || had->second->groups() != states->groups()) continue;
    states = std::move(had->second);
  }
}

void StatesToCome::read(store::SnapshotStore& store, SnapshotId snapshot,
                        const std::function<bool()>& stop) {
  for (auto& [which, states] : states_) {
    if (stop()) return;
    static_cast<void>(states->go_to(store, snapshot, stop));
  }
}

std::unique_ptr<state::StatesAhead> StatesToCome::take(const flow::ReplicaPlan& replica) {
  const auto found = states_.find({replica.node, replica.index});
  if (found == states_.end()) return nullptr;
  auto states = std::move(found->second);
  states_.erase(found);
  return states;
}

std::shared_ptr<state::KeptStates> StatesToCome::bring(std::unique_ptr<state::StatesAhead> states,
                                                       store::SnapshotStore& store,
                                                       SnapshotId snapshot) {
  // Nobody goes back behind a snapshot that was complete.
  if (!states || states->snapshot() == 0 || states->snapshot() > snapshot) return nullptr;
  const auto there = states->go_to(store, snapshot, [] { return false; });
  return there && *there ? states->take() : nullptr;
}

}  // namespace piracema::runtime
