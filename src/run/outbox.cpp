#include "run/outbox.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/ensure.h"

namespace piracema::runtime {

Outbox::Outbox(ReplicaId self, const flow::ReplicaPlan& plan, const EdgeShape* edge, Router router,
               std::unordered_set<std::uint64_t> skips, Port& port,
               std::atomic<std::uint64_t>* at_work)
    : self_(self), plan_(plan), port_(port), to_skip_(std::move(skips)) {
  lanes_.resize(plan.outputs.size() + 1);
  credits_.assign(plan.outputs.size(), 0);
  outstanding_.assign(plan.outputs.size(), 0);
  skips_ = !to_skip_.empty();
  if (at_work != nullptr) at_work_ = at_work;
  order_.origin = self;
  if (edge != nullptr) {
    delivery_ = edge->delivery;
    router_ = std::move(router);
    if (delivery_ == Delivery::round_robin) {
      router_ = [next = std::uint64_t{0}, replicas = plan.outputs.size()](const void*) mutable {
        return next++ % replicas;
      };
    }
    routed_ = delivery_ != Delivery::on_demand && delivery_ != Delivery::broadcast;
    splits_ = routed_ || edge->items_may_have_keys || delivery_ == Delivery::broadcast;
  }
  keeps_positions_ = plan_.ordered_output && splits_;
  set_limits();
}

// Between two nodes of an order a batch leaves whole, when the batch it came from is done.
void Outbox::set_limits() {
  if (plan_.ordered_output && !plan_.starts_order) {
    items_limit_ = std::numeric_limits<std::uint32_t>::max();
    bytes_limit_ = std::numeric_limits<std::size_t>::max();
  } else {
    items_limit_ = pace_.items();
  }
}

void Outbox::begin_batch(const Batch& batch) {
  if (!plan_.ordered_output || plan_.starts_order) return;
  emitted_ = 0;
  order_ = batch.order;
  inherits_positions_ = !batch.positions.empty();
  keeps_positions_ = splits_ || inherits_positions_;
}

void Outbox::end_batch() {
  if (plan_.ordered_output && !plan_.starts_order) close_ordered();
  pump();
}

void Outbox::begin_finish() {
  if (!plan_.ordered_output || plan_.starts_order) return;
  order_ = {.origin = self_, .sequence = Order::no_sequence};
  inherits_positions_ = false;
}

void Outbox::lane_full(std::size_t lane) {
  if (plan_.ordered_output) {
    close_ordered();
  } else {
    close_lane(lane, {});
  }
  pump();
  budget_ = 0;
  // A source returns instead, so that it can be asked for a barrier meanwhile; one that does not
  // return waits here like the others.
  const std::uint64_t slack = plan_.inputs.empty() ? lanes_.size() : 0;
  if (!is_over(slack)) return;
  const Time start = port_.now();
  while (is_over(slack) && port_.wait()) pump();
  waited_ += port_.now() - start;
}

// The batch that is done gets the next number of its order, or keeps the one it came with; what
// took several lanes shares it.
void Outbox::close_ordered() {
  const auto filled = static_cast<std::uint64_t>(
      std::count_if(lanes_.begin(), lanes_.end(), [](const Batch& b) { return b.count != 0; }));
  Order part = order_;
  if (filled <= 1) {
    std::size_t lane = any_lane();
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (lanes_[i].count != 0) lane = i;
    }
    // Whole, and in its own order: places say nothing more.
    const bool broadcast = lane == any_lane() && delivery_ == Delivery::broadcast;
    if (!inherits_positions_ && !broadcast) lanes_[lane].positions.clear();
    close_lane(lane, part);
  } else {
    ENSURE(order_.share >= filled);
    part.share = order_.share / filled;
    std::uint64_t left = order_.share;
    std::uint64_t open = filled;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (lanes_[i].count == 0) continue;
      open -= 1;
      if (open == 0) part.share = left;
      left -= part.share;
      close_lane(i, part);
    }
  }
  if (plan_.starts_order) order_.sequence += 1;
  emitted_ = 0;
}

void Outbox::close_lane(std::size_t lane, const Order& order) {
  Batch batch = std::exchange(lanes_[lane], {});
  batch.order = order;
  items_sent_ += batch.count;
  bytes_sent_ += batch.data.size();
  // The next batch of the lane will be about as large.
  lanes_[lane].data.reserve(std::min(batch.data.size(), std::size_t{1} << 20));
  waiting_.push_back({lane, std::move(batch)});
  waiting_batches_ += 1;
}

void Outbox::flush() {
  if (!has_open_lane()) return;
  if (plan_.ordered_output) {
    close_ordered();
  } else {
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      if (lanes_[lane].count != 0) close_lane(lane, {});
    }
  }
  pump();
}

void Outbox::flush_if_asked() {
  if (!waiting_.empty() || !has_open_lane() || must_wait()) return;
  const bool asked = std::any_of(credits_.begin(), credits_.end(), [](auto c) { return c != 0; });
  if (asked) flush();
}

void Outbox::barrier(SnapshotId snapshot) {
  flush();
  waiting_.push_back({any_lane(), Barrier{snapshot}});
  pump();
}

void Outbox::end() {
  flush();
  waiting_.push_back({any_lane(), EndOfStream{}});
  pump();
}

void Outbox::on_credit(ReplicaId from, const Credit& credit) {
  ENSURE(from >= plan_.outputs.front() && from <= plan_.outputs.back());
  const std::size_t target = from - plan_.outputs.front();
  credits_[target] += credit.batches;
  // A peer may claim more than it ever got.
  outstanding_[target] -= std::min<std::uint64_t>(outstanding_[target], credit.done);
  if (credit.ns_per_item != 0) pace_.heard(credit.ns_per_item);
  set_limits();
}

void Outbox::on_release(std::uint64_t sequence) { released_ = std::max(released_, sequence); }

bool Outbox::is_over(std::uint64_t slack) const {
  const std::size_t allowed = 1 + (splits_ ? credits_.size() : 0);
  if (waiting_batches_ > allowed + slack) return true;
  return plan_.starts_order && order_.sequence - released_ >= plan_.window + slack;
}

bool Outbox::has_open_lane() const {
  return std::any_of(lanes_.begin(), lanes_.end(), [](const Batch& b) { return b.count != 0; });
}

void Outbox::pump() {
  while (!waiting_.empty() && send_front()) waiting_.pop_front();
}

bool Outbox::send_front() {
  Waiting& front = waiting_.front();
  if (std::holds_alternative<Batch>(front.packet)) {
    if (!send_batch(front)) return false;
    waiting_batches_ -= 1;
    return true;
  }
  for (const ReplicaId to : plan_.outputs) {
    if (const auto* barrier = std::get_if<Barrier>(&front.packet)) port_.send(to, *barrier);
    if (std::holds_alternative<EndOfStream>(front.packet)) port_.send(to, EndOfStream{});
  }
  return true;
}

bool Outbox::send_batch(Waiting& waiting) {
  std::size_t target = waiting.lane;
  if (waiting.lane == any_lane()) {
    if (delivery_ == Delivery::broadcast) return send_to_all(waiting);
    const auto free = least_busy();
    if (!free) return false;
    target = *free;
  }
  if (credits_[target] == 0) return false;
  if (waiting.lane == any_lane()) turn_ = target + 1;
  send_to(target, std::move(std::get<Batch>(waiting.packet)));
  return true;
}

// On demand (paper 000, section 4.1): only to a replica that has asked; of several the one that has
// least to do, and in turn among equals. How much each has asked for does not count: a fast one
// asks for more in advance, and would get items that another one could begin at once.
std::optional<std::size_t> Outbox::least_busy() const {
  std::optional<std::size_t> least;
  for (std::size_t i = 0; i < credits_.size(); ++i) {
    const std::size_t target = (turn_ + i) % credits_.size();
    if (credits_[target] == 0) continue;
    if (!least || outstanding_[target] < outstanding_[*least]) least = target;
  }
  return least;
}

bool Outbox::send_to_all(Waiting& waiting) {
  if (std::any_of(credits_.begin(), credits_.end(), [](auto c) { return c == 0; })) return false;
  const Batch& batch = std::get<Batch>(waiting.packet);
  const std::uint64_t share = batch.order.share / credits_.size();
  for (std::size_t target = 0; target < credits_.size(); ++target) {
    Batch copy = batch;
    const bool last = target + 1 == credits_.size();
    copy.order.share = last ? batch.order.share - share * target : share;
    send_to(target, std::move(copy));
  }
  return true;
}

void Outbox::send_to(std::size_t target, Batch batch) {
  credits_[target] -= 1;
  outstanding_[target] += 1;
  port_.send(plan_.outputs[target], std::move(batch));
}

bool Outbox::skip(Bytes item) {
  if (!to_skip_.contains(id())) return false;
  port_.skipped(id(), item);
  return true;
}

}  // namespace piracema::runtime
