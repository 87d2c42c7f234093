#include "run/replica/replica_init.h"

#include <utility>

#include "state/group_ranges.h"

namespace piracema::runtime {

Result<Done> ReplicaInit::restore(store::SnapshotStore& from, SnapshotId of,
                                  const GraphShape& shape, const flow::ReplicaPlan& plan,
                                  Here here) {
  std::vector<GroupRange> there;
  if (here.kept && here.kept->snapshot == of) {
    kept = std::move(here.kept);
    there.push_back(state::common(kept->owned, plan.owned));
  }
  const auto fits = [&](const state::KeptStates& states) {
    return states.snapshot == of && state::common(states.owned, plan.owned) == states.owned &&
           (there.empty() || state::common(states.owned, there.front()).count() == 0);
  };
  if (here.ahead && fits(*here.ahead)) {
    ahead = std::move(here.ahead);
    there.push_back(ahead->owned);
  }
  here = {};  // Before anything is read: no state is in memory twice.
  auto part = state::read_part(from, of, shape, plan, there);
  if (!part) return part.error();
  state = std::move(part->plain);
  layout = std::move(part->layout);
  keys = std::move(part->keys);
  store = &from;
  snapshot = of;
  return Done{};
}

}  // namespace piracema::runtime
