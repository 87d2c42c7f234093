#include "run/replica/replica_init.h"

#include <utility>

#include "state/restored_part.h"

namespace piracema::runtime {

Result<Done> ReplicaInit::restore(store::SnapshotStore& from, SnapshotId of,
                                  const GraphShape& shape, const flow::ReplicaPlan& plan,
                                  std::shared_ptr<state::KeptStates> of_former) {
  if (of_former && of_former->snapshot == of) kept = std::move(of_former);
  of_former.reset();  // Before another one is read: no state is in memory twice.
  auto part = state::read_part(from, of, shape, plan, kept ? kept->owned : GroupRange{});
  if (!part) return part.error();
  state = std::move(part->plain);
  layout = std::move(part->layout);
  units = std::move(part->units);
  files = std::move(part->files);
  store = &from;
  snapshot = of;
  return Done{};
}

}  // namespace piracema::runtime
