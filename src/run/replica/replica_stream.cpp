// How items go through a replica.
#include <algorithm>
#include <cmath>
#include <utility>

#include "run/replica/replica.h"

namespace piracema::runtime {

namespace {

std::uint32_t ppm(double read) {
  if (read < 0) return 1'000'001;  // It does not know.
  return static_cast<std::uint32_t>(std::lround(std::min(read, 1.0) * 1e6));
}

}  // namespace

Replica::Next Replica::produce() {
  Produced produced = Produced::end;
  // The last call's items need not wait for this one, if somebody has asked meanwhile.
  flush_produced();
  const Time start = port_.now();
  const std::int64_t asked = source_.items();
  outbox_.begin_produce(asked, start + Time(SourcePace::call_ns));
  if (!guarded("the source", [&] { produced = operator_->produce(outbox_); })) return Next::wait;
  const std::uint64_t took = time_since(start);
  at_work_.store(no_item, std::memory_order_relaxed);
  counters_.busy_ns.fetch_add(took, std::memory_order_relaxed);
  const std::int64_t begun = asked - outbox_.left_to_produce() - (produced == Produced::end);
  count_produced(begun);
  counters_.read_ppm.store(ppm(operator_->progress()), std::memory_order_relaxed);
  if (produced == Produced::end) {
    finish();
    return Next::again;
  }
  source_.made(begun, took);
  if (produced == Produced::nothing_yet) source_.found_nothing();
  flush_produced();
  outbox_.flush_if_asked(start);
  count_out();
  return produced == Produced::nothing_yet ? Next::poll : Next::again;
}

// A source that is slower than its receivers should not keep an item back for company.
void Replica::flush_produced() {
  if (source_.haste() == SourcePace::Haste::great) outbox_.flush_if_asked();
  if (source_.haste() == SourcePace::Haste::some) outbox_.flush_to_idle();
}

// Nothing leaves a whole program that could be counted: what it begins counts, but for the end.
void Replica::count_produced(std::int64_t begun) {
  if (node_.role != Role::whole) return;
  consumed_ += static_cast<std::uint64_t>(std::max<std::int64_t>(begun, 0));
  if (consumed_ != 0) note_output();
}

void Replica::take(std::size_t input, Batch batch) {
  counters_.items_in.fetch_add(batch.count, std::memory_order_relaxed);
  counters_.bytes_in.fetch_add(batch.data.size(), std::memory_order_relaxed);
  const flow::InputPlan& from = plan_.inputs[input];
  batch.input = from.input;
  if (from.in_cycle && batch.count != 0) cycle_->on_items();
  if (from.back) note_back(input, batch);
  std::uint64_t took = 0;
  const bool has_place = batch.order.sequence != Order::no_sequence;
  if (!node_.ordered || !plan_.ordered_input || !has_place || from.back) {
    took = process(batch);
  } else {
    const ReplicaId origin = batch.order.origin;
    for (Batch& next : reorder_.add(std::move(batch))) {
      if (failed_) return;
      took += process(next);
      release(origin, next.order.sequence + 1);
    }
  }
  if (failed_ || from.back) return;
  if (unpaid_[input] != 0) {
    unpaid_[input] -= 1;
  } else {
    give_credit(input, took);
  }
}

// Returns how long it took.
std::uint64_t Replica::process(Batch& batch) {
  if (node_.role == Role::sink && batch.count != 0) note_output();
  const Time start = port_.now();
  outbox_.begin_batch(batch);
  if (!guarded("process", [&] { operator_->process(batch, outbox_); })) return 0;
  at_work_.store(no_item, std::memory_order_relaxed);
  outbox_.end_batch();
  if (outbox_.emitted_after_end()) {
    fail(std::nullopt, "'" + node_.name + "' emits into its cycle, which has ended");
    return 0;
  }
  const std::uint64_t took = time_since(start);
  outbox_.flush_if_asked(start);
  credits_.worked(batch.count, took);
  counters_.busy_ns.fetch_add(took, std::memory_order_relaxed);
  count_out();
  return took;
}

void Replica::note_output() {
  if (!std::exchange(had_output_, true)) port_.first_output();
}

// Told in steps: an origin that waits has a whole window on the way.
void Replica::release(ReplicaId origin, std::uint64_t sequence) {
  std::uint64_t& released = released_[origin];
  if (sequence < released + 4) return;
  released = sequence;
  port_.send(origin, Release{sequence});
}

void Replica::give_credit(std::size_t input, std::uint64_t took) {
  // Round a cycle what is said of later nodes would come back to whoever said it, and never be
  // forgotten.
  const std::uint64_t after = plan_.inputs[input].back ? 0 : outbox_.downstream_ns_per_item();
  port_.send(plan_.inputs[input].from, credits_.done(input, took, after));
}

// Time that the operator worked, without what it waited for room.
std::uint64_t Replica::time_since(Time start) {
  const Time waited = outbox_.take_waited();
  return static_cast<std::uint64_t>(std::max(port_.now() - start - waited, Time{}).count());
}

void Replica::count_out() {
  counters_.items_out.store(outbox_.items_sent() + consumed_, std::memory_order_relaxed);
  counters_.bytes_out.store(outbox_.bytes_sent(), std::memory_order_relaxed);
}

}  // namespace piracema::runtime
