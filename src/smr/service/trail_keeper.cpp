#include "smr/service/trail_keeper.h"

#include <algorithm>
#include <utility>

#include "wire/checksum.h"

namespace piracema::smr {

void TrailKeeper::add(std::size_t requests) {
  instances_.emplace_back(requests);
  operations_ += requests;
  while (operations_ > operations_max && instances_.size() > 1) forget_until(first_);
}

void TrailKeeper::note(const Task& task) {
  if (task.context.instance < first_) return;
  instances_[task.context.instance - first_][task.context.index] = task.imprint;
}

void TrailKeeper::stable(Instance instance) {
  stable_.push_back(instance);
  if (stable_.size() <= checkpoints_kept) return;
  forget_until(stable_.front());
  stable_.pop_front();
}

void TrailKeeper::restart_after(Instance instance) {
  instances_.clear();
  operations_ = 0;
  first_ = instance + 1;
  stable_ = {instance};
}

void TrailKeeper::forget_until(Instance instance) {
  while (!instances_.empty() && first_ <= instance) {
    operations_ -= instances_.front().size();
    instances_.pop_front();
    first_ += 1;
  }
}

Trail TrailKeeper::part(const TrailRequest& asked) const {
  const Instance end = first_ + instances_.size();
  Trail trail{std::max(asked.first, first_), asked.operations, {}};
  for (Instance i = trail.first; i < end && i <= asked.last; ++i) {
    const auto& one = instances_[i - first_];
    if (asked.operations) {
      if (i == asked.first) trail.digests.assign(one.begin(), one.end());
      break;
    }
    if (trail.digests.size() == trail_digests_max) break;
    trail.digests.push_back(wire::checksum(std::as_bytes(std::span(one))));
  }
  return trail;
}

}  // namespace piracema::smr
