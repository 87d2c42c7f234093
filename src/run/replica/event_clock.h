#pragma once

#include <piracema/operator.h>

#include <chrono>
#include <cstddef>
#include <optional>

#include "base/clock.h"
#include "flow/plan.h"
#include "run/barrier/watermarks.h"
#include "run/packet/port.h"
#include "run/replica/between_batches.h"
#include "run/replica/counters.h"
#include "run/replica/operator_guard.h"
#include "run/sending/outbox.h"

namespace piracema::runtime {

/// Event time at a replica: tells its operator how far that has come, between two batches, and says
/// to all receivers how far it has come behind what they got (a watermark).
///
/// None of it is saved: a watermark that comes later than it might only delays what waits for it.
/// After a recovery those who give event time say again how far they are, and all others hear it.
class EventClock {
 public:
  EventClock(const flow::ReplicaPlan& plan, Port& port, Counters& counters, OperatorGuard& guard,
             Outbox& outbox)
      : port_(port),
        counters_(counters),
        guard_(guard),
        outbox_(outbox),
        between_batches_(counters, guard, outbox),
        marks_(plan),
        is_in_cycle_(plan.heads != 0) {}

  /// `of` outlives it, and has the state that it goes on with. Once, before all else.
  void begin(Operator& of) {
    operator_ = &of;
    has_news_ = gives_ = of.gives_event_time();
    idle_after_ = of.idle_after();
    saw_items();
    count_late();  // One that has ended is called no more.
  }

  void on_watermark(std::size_t input, EventTime come) {
    marks_.on_watermark(input, come);
    look();
  }
  void on_end(std::size_t input) {
    marks_.on_end(input);
    look();
  }
  /// The operator has worked, so that it may say another time of its own.
  void worked() { has_news_ = has_news_ || gives_; }

  /// There is something to work on, or was.
  void saw_items() {
    if (idle_after_) idle_at_ = port_.now() + *idle_after_;
  }
  /// There has been nothing for as long as the operator wants to be told of it.
  bool is_quiet() const { return idle_at_ && port_.now() >= *idle_at_; }
  /// Tells it so.
  void tell_idle();

  /// True if the operator was called, or has failed. At most once in `interval`, as each watermark
  /// closes batches that are not full; but every other time while the operator has more to do.
  bool call() { return (has_news_ || is_advancing_) && call_if_due(); }
  /// Nothing follows.
  void finish() { count_late(); }
  /// Until the next call, if there is one to come.
  std::optional<Time> left() const;

  static constexpr Time interval = std::chrono::milliseconds(10);

 private:
  void look() { has_news_ = has_news_ || (!is_in_cycle_ && marks_.come() > told_); }
  bool call_if_due();
  void count_late() {
    if (gives_) counters_.items_late.store(operator_->items_late(), std::memory_order_relaxed);
  }

  Port& port_;
  Counters& counters_;
  OperatorGuard& guard_;
  Outbox& outbox_;
  BetweenBatches between_batches_;
  Operator* operator_ = nullptr;
  Watermarks marks_;
  const bool is_in_cycle_;
  bool gives_ = false, has_news_ = false;
  /// The operator has more to do; others are to have their turn before.
  bool is_advancing_ = false, has_had_turn_ = false;
  /// What the operator has heard, and what receivers have.
  EventTime told_ = no_event_time, said_ = no_event_time;
  std::optional<Time> called_;
  /// None: the operator does not want to know.
  std::optional<Time> idle_after_, idle_at_;
};

}  // namespace piracema::runtime
