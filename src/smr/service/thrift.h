#pragma once

#include <cstddef>

#include "base/clock.h"

namespace piracema::smr {

/// What parallel execution costs; what gains less is executed on one thread, so that nobody is
/// slower for it (paper 003, section 5: with short operations its list fell to 0.4 of sequential).
struct Prices {
  /// To schedule one operation: its keys, its place in the graph, its way to a thread.
  Time task{400};
  /// To go on on one thread after another one has done something.
  Time handover{2'000};
  /// To start the threads, and to wait for the last.
  Time round{30'000};
};

/// How operations would be done in parallel, in units of one operation.
struct Prospect {
  /// One after the other at the least.
  std::size_t steps = 0;
  /// How often threads wait for each other.
  std::size_t handovers = 0;
};

/// Knows what an operation takes, by experience, and whether threads would pay.
class Thrift {
 public:
  explicit Thrift(const Prices& prices) : prices_(prices) {}

  /// Whether to look at the operations at all: they may gain more than looking costs.
  bool may_pay(std::size_t tasks) const {
    const double work = cost_ * static_cast<double>(tasks);
    return work / 2 > total(tasks, 0);
  }
  /// Whether to do so many in parallel, which would go like this.
  bool pays(std::size_t tasks, const Prospect& prospect) const {
    const double alone = cost_ * static_cast<double>(tasks);
    const double together =
        cost_ * static_cast<double>(prospect.steps) + total(tasks, prospect.handovers);
    return together < 0.95 * alone;
  }
  /// So many took so long, on one thread or summed over all.
  void learn(std::size_t tasks, Time busy) {
    const double cost = static_cast<double>(busy.count()) / static_cast<double>(tasks);
    // Half of it new: operations differ, and a thread that was preempted must not count for long.
    cost_ = cost_ == 0 ? cost : cost_ + (cost - cost_) / 2;
  }
  /// So many replies are handed over at once: what is done in about 50 us.
  std::size_t flush_count() const {
    return cost_ <= 0 ? 1 : static_cast<std::size_t>(50'000 / cost_) + 1;
  }

 private:
  double total(std::size_t tasks, std::size_t handovers) const {
    return static_cast<double>(prices_.round.count()) +
           static_cast<double>(prices_.task.count()) * static_cast<double>(tasks) +
           static_cast<double>(prices_.handover.count()) * static_cast<double>(handovers);
  }

  const Prices prices_;
  /// Nanoseconds an operation.
  double cost_ = 0;
};

}  // namespace piracema::smr
