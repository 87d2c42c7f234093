#pragma once

#include <algorithm>
#include <cstddef>

#include "base/clock.h"

namespace piracema::smr {

/// What parallel execution costs at the least, to know without trying where it cannot gain.
struct Prices {
  /// To schedule one operation: its keys, its place in the graph, its way to a thread.
  Time task{300};
  /// To go on on one thread after another one has done something.
  Time handover{1'000};
  /// To start the threads, and to wait for the last.
  Time round{20'000};
  /// Threads are used wherever they can be, whether they gain or not: what the paper does. For
  /// tests, and to measure what it costs.
  bool ignored = false;
};

/// How operations would be done in parallel, in units of one operation.
struct Prospect {
  /// One after the other at the least.
  std::size_t steps = 0;
  /// How often threads wait for each other.
  std::size_t handovers = 0;
};

/// Decides for each window of operations whether threads pay, by experience: so that nobody is
/// slower for having them (paper 003, section 5: with short operations or many conflicts its list
/// fell to 0.4 of sequential execution).
///
/// What could gain is done both ways, and then the way that took less; the other one is tried again
/// now and then, as operations change.
class Thrift {
 public:
  explicit Thrift(const Prices& prices) : prices_(prices) {}

  /// Whether to look at so many operations at all: they may gain more than looking costs.
  bool may_pay(std::size_t tasks) const {
    if (prices_.ignored) return true;
    return cost_ * static_cast<double>(tasks) / 2 > price(tasks, 0);
  }
  /// Whether to do them in parallel, which would go like this. One `learn` has to follow.
  bool pays(std::size_t tasks, const Prospect& prospect);

  /// So many took so long on one thread.
  void learn_alone(std::size_t tasks, Time took);
  /// By several; `busy` is summed over them.
  void learn_together(std::size_t tasks, Time took, Time busy);

  /// So many replies are handed over at once: what is done in about 50 us.
  std::size_t flush_count() const {
    return cost_ <= 0 ? 1 : static_cast<std::size_t>(50'000 / cost_) + 1;
  }

 private:
  double price(std::size_t tasks, std::size_t handovers) const {
    return static_cast<double>(prices_.round.count()) +
           static_cast<double>(prices_.task.count()) * static_cast<double>(tasks) +
           static_cast<double>(prices_.handover.count()) * static_cast<double>(handovers);
  }

  const Prices prices_;
  // ---- nanoseconds an operation, running averages; 0 is not known
  double cost_ = 0;
  /// Of windows that could gain, in the one way and in the other.
  double alone_ = 0, together_ = 0;
  /// This window could gain; it is done in the slower way, to see whether that is still slower.
  bool open_ = false, trial_ = false;
  /// Windows until the slower way is tried again, and how long to wait after that.
  int until_trial_ = 0, patience_ = 4;
};

}  // namespace piracema::smr
