#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "smr/order/messages/messages.h"
#include "smr/order/transfer/checkpoints.h"
#include "smr/service/executor/executor.h"

namespace piracema::smr {

/// What the last operations have answered and left behind, as digests in their order: replicas
/// whose states differ find by them the operation at which they parted (order/divergence.h). A
/// request that was not executed, as it had been before, has 0. One thread.
class TrailKeeper {
 public:
  /// Operations that are kept; whole instances are forgotten, the oldest first.
  static constexpr std::size_t operations_max = std::size_t{1} << 22;
  /// Stable checkpoints that it goes back, from the last one: so many may wait for one vote, and
  /// the one that brings it finds that it, or somebody else, had parted before the first of them.
  static constexpr std::size_t checkpoints_kept = unstable_checkpoints_max + 1;

  /// The next instance, with so many requests.
  void add(std::size_t requests);
  /// It was executed; of an instance that was added.
  void note(const Task& task);
  /// A checkpoint is stable at `instance`. What is older than the last checkpoints_kept before it
  /// goes: whoever has parted from the others since then asks for what lies between.
  void stable(Instance instance);
  /// The state is that after `instance` now, from somewhere else.
  void restart_after(Instance instance);

  /// What was asked for, as far as it is there.
  Trail part(const TrailRequest& asked) const;

 private:
  void forget_until(Instance instance);

  Instance first_ = 1;
  /// The oldest first.
  std::deque<Instance> stable_;
  std::deque<std::vector<std::uint32_t>> instances_;
  std::size_t operations_ = 0;
};

}  // namespace piracema::smr
