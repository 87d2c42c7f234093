#pragma once

#include "run/replica/counters.h"
#include "run/replica/operator_guard.h"
#include "run/sending/outbox.h"

namespace piracema::runtime {

/// Calls an operator between two batches. What it emits comes from none, has no place in an order,
/// and leaves at once: it must not share a batch with what comes of the next one.
class BetweenBatches {
 public:
  BetweenBatches(Counters& counters, OperatorGuard& guard, Outbox& outbox)
      : counters_(counters), guard_(guard), outbox_(outbox) {}

  /// False if it has thrown; `what` says what was called.
  template <class Call>
  bool call(const char* what, Call call) {
    outbox_.begin_finish();
    if (!guard_.call(what, call)) return false;
    guard_.no_item();
    outbox_.flush();
    counters_.sent(outbox_.items_sent(), outbox_.bytes_sent());
    return true;
  }

 private:
  Counters& counters_;
  OperatorGuard& guard_;
  Outbox& outbox_;
};

}  // namespace piracema::runtime
