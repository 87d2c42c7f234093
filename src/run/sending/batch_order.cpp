#include "run/sending/batch_order.h"

#include <algorithm>

#include "base/ensure.h"

namespace piracema::runtime {

BatchOrder::BatchOrder(ReplicaId self, const flow::ReplicaPlan& plan)
    : self_(self),
      carries_(plan.ordered_output()),
      starts_(plan.starts_order),
      window_(plan.window),
      now_{.origin = self} {
  for (const ReplicaId end : plan.order_ends) released_[end] = 0;
}

Order BatchOrder::part(std::size_t i, std::size_t parts) const {
  ENSURE(now_.share >= parts);
  Order part = now_;
  part.share = now_.share / parts;
  if (i + 1 == parts) part.share = now_.share - part.share * i;
  return part;
}

void BatchOrder::on_release(ReplicaId end, std::uint64_t sequence) {
  const auto known = released_.find(end);
  if (known == released_.end()) return;
  known->second = std::max(known->second, sequence);
  released_by_all_ = sequence;
  for (const auto& [replica, released] : released_) {
    released_by_all_ = std::min(released_by_all_, released);
  }
}

}  // namespace piracema::runtime
