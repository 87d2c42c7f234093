#pragma once

#include <piracema/operator.h>

#include <optional>

#include "base/clock.h"
#include "run/packet/port.h"
#include "run/replica/between_batches.h"
#include "run/replica/counters.h"
#include "run/replica/operator_guard.h"
#include "run/sending/outbox.h"

namespace piracema::runtime {

/// Calls the operator of a replica when its timer is due, between two batches: what it emits comes
/// from none.
class OperatorTimer {
 public:
  OperatorTimer(Port& port, Counters& counters, OperatorGuard& guard, Outbox& outbox)
      : port_(port), guard_(guard), outbox_(outbox), between_batches_(counters, guard, outbox) {}

  /// `of` outlives it. Nothing is called before, nor if it has no timer.
  void begin(Operator& of) {
    if (of.has_timer()) operator_ = &of;
  }
  bool has_timer() const { return operator_ != nullptr; }

  /// True if it was called, or has failed. Not twice in a row: what has come is not kept waiting by
  /// timers that are always due.
  bool call() { return called_ = call_if_due(); }
  /// Until the timer is due, as of the last call; none: there is none.
  std::optional<Time> left() const;

 private:
  bool call_if_due();

  Port& port_;
  OperatorGuard& guard_;
  Outbox& outbox_;
  BetweenBatches between_batches_;
  Operator* operator_ = nullptr;
  /// As of the last call.
  std::optional<WallTime> next_;
  bool called_ = false;
};

}  // namespace piracema::runtime
