#include "run/replica/snapshot_requests.h"

namespace piracema::runtime {

std::optional<SnapshotRequests::Next> SnapshotRequests::take(bool may_save) {
  // A replica that saved it and then ended may be asked once more: the coordinator heard of its
  // end before it heard of its state. So may a head, which is asked in case no barrier comes.
  while (!triggers_.empty() && triggers_.front() <= last_saved_) triggers_.pop_front();
  const bool can_save = may_save && !triggers_.empty();
  // What is committed was prepared before, even if it could not be stored after that.
  const bool save_first = can_save && !commits_.empty() && triggers_.front() <= commits_.front();
  const bool commits = !commits_.empty() && !save_first;
  if (!commits && !can_save) return std::nullopt;
  std::deque<SnapshotId>& from = commits ? commits_ : triggers_;
  const Next next{commits ? Next::What::commit : Next::What::save, from.front()};
  from.pop_front();
  return next;
}

}  // namespace piracema::runtime
