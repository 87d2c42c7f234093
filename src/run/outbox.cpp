#include "run/outbox.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/ensure.h"

namespace piracema::runtime {

namespace {
// The clock is looked at after the first item of a source and after each eighth more, but not
// seldomer than after so many: one that has been fast and becomes slow, be it in the middle of a
// call, keeps neither its items nor a barrier back for long.
constexpr std::int64_t items_a_look_max = 256;

// An item waits at most about so long for company, where nothing else is said.
constexpr Time linger_max = std::chrono::milliseconds(1);

std::uint32_t batch_items(const flow::OutputPlan& plan, const EdgeShape& edge,
                          const Surroundings& surroundings) {
  std::uint32_t items = 0;
  for (const ReplicaId target : plan.targets) {
    const auto said = surroundings.batches.find(target);
    if (said != surroundings.batches.end() && (items == 0 || said->second < items)) {
      items = said->second;
    }
  }
  return items != 0 ? items : edge.batch.items;
}
}  // namespace

Outbox::Outbox(ReplicaId self, const flow::ReplicaPlan& plan, const Graph& graph,
               const Surroundings& surroundings, Port& port, std::atomic<std::uint64_t>* at_work)
    : self_(self),
      plan_(plan),
      port_(port),
      to_skip_(surroundings.skips),
      orders_(plan.ordered_output()) {
  skips_ = !to_skip_.empty();
  if (at_work != nullptr) at_work_ = at_work;
  order_.origin = self;
  for (const flow::OutputPlan& output : plan_.outputs) add_output(output, graph, surroundings);
  for (const ReplicaId end : plan_.order_ends) released_[end] = 0;
  // Somewhere for what a sink emits, against all rules.
  if (ways_.empty()) {
    ways_.emplace_back();
    lanes_.emplace_back();
    ways_[0].items_limit = std::numeric_limits<std::uint32_t>::max();
    ways_[0].bytes_limit = std::numeric_limits<std::size_t>::max();
  }
}

void Outbox::add_output(const flow::OutputPlan& plan, const Graph& graph,
                        const Surroundings& surroundings) {
  const EdgeShape& edge = graph.shape.edges[plan.edge];
  Way way;
  way.first_lane = lanes_.size();
  way.receivers = plan.targets.size();
  way.delivery = edge.delivery;
  way.router = graph.routers[plan.edge];
  if (way.delivery == Delivery::round_robin) {
    way.router = [next = std::uint64_t{0}, replicas = way.receivers](const void*) mutable {
      return next++ % replicas;
    };
  }
  way.routed = way.delivery != Delivery::on_demand && way.delivery != Delivery::broadcast;
  Exit exit{.order = plan.order,
            .in_cycle = plan.in_cycle,
            .pace = BatchPace(batch_items(plan, edge, surroundings))};
  exit.linger = edge.batch.linger.count() == 0 ? linger_max : Time(edge.batch.linger);
  if (edge.batch.bytes != 0) way.bytes_limit = edge.batch.bytes;
  exit.splits = way.routed || edge.items_may_have_keys || way.delivery == Delivery::broadcast;
  // Two outputs that lead to one ordered node cut a batch like two lanes of one.
  const auto shared = std::count_if(plan_.outputs.begin(), plan_.outputs.end(),
                                    [&](const auto& other) { return other.order == plan.order; });
  way.keeps_positions = plan.order && (exit.splits || shared > 1);
  const std::uint32_t output = outputs();
  for (const ReplicaId target : plan.targets) {
    lane_of_[target] = receivers_.size();
    receivers_.push_back(
        {.replica = target, .output = output, .near = surroundings.neighbours.contains(target)});
  }
  receivers_.push_back({.output = output});
  lanes_.resize(receivers_.size());
  ways_.push_back(std::move(way));
  exits_.push_back(std::move(exit));
  set_limits(output);
}

// Between two nodes of an order a batch leaves whole, when the batch it came from is done.
void Outbox::set_limits(std::uint32_t output) {
  if (exits_[output].order && !plan_.starts_order) {
    ways_[output].items_limit = std::numeric_limits<std::uint32_t>::max();
    ways_[output].bytes_limit = std::numeric_limits<std::size_t>::max();
  } else {
    ways_[output].items_limit = exits_[output].pace.items();
  }
}

void Outbox::begin_produce(std::int64_t items, Time until) {
  budget_ = std::min<std::int64_t>(items, 1);
  budget_later_ = items - budget_;
  looked_after_ = budget_;
  produce_until_ = until;
}

bool Outbox::refill() {
  if (budget_later_ <= 0 || port_.now() >= produce_until_) return false;
  const std::int64_t look = std::clamp<std::int64_t>(looked_after_ / 8, 1, items_a_look_max);
  const std::int64_t more = std::min(budget_later_, look);
  looked_after_ += more;
  budget_ += more;
  budget_later_ -= more;
  return true;
}

void Outbox::lane_full(std::size_t lane) {
  const std::uint32_t output = receivers_[lane].output;
  if (exits_[output].order) {
    close_ordered();
  } else {
    close_lane(output, lane, {});
  }
  pump();
  budget_ = 0;
  budget_later_ = 0;
  // A source returns instead, so that it can be asked for a barrier meanwhile; one that does not
  // return waits here like the others.
  const std::uint64_t slack = plan_.inputs.empty() ? lanes_.size() : 0;
  if (!is_over(slack)) return;
  const Time start = port_.now();
  while (is_over(slack) && port_.wait()) pump();
  waited_ += port_.now() - start;
}

void Outbox::close_lane(std::uint32_t output, std::size_t lane, const Order& order) {
  Batch batch = std::exchange(lanes_[lane], {});
  batch.order = order;
  items_sent_ += batch.count;
  bytes_sent_ += batch.data.size();
  // The next batch of the lane will be about as large.
  lanes_[lane].data.reserve(std::min(batch.data.size(), std::size_t{1} << 20));
  Exit& exit = exits_[output];
  if (exit.ended) {
    emitted_after_end_ = true;
    return;
  }
  exit.waiting.push_back({lane, std::move(batch)});
  exit.waiting_batches += 1;
}

void Outbox::close_output(std::uint32_t output) {
  const Way& way = ways_[output];
  for (std::size_t lane = way.first_lane; lane <= way.any_lane(); ++lane) {
    if (lanes_[lane].count != 0) close_lane(output, lane, {});
  }
}

void Outbox::flush() {
  bool ordered = false;
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    if (!is_open(output)) continue;
    if (exits_[output].order) {
      ordered = true;
    } else {
      close_output(output);
    }
  }
  if (ordered) close_ordered();
  pump();
}

void Outbox::flush_if_asked(std::optional<Time> now) {
  if (must_wait()) return;
  bool ordered = false;
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    Exit& exit = exits_[output];
    if (now && *now - exit.flushed < exit.linger) continue;
    if (now) exit.flushed = *now;
    if (!exit.waiting.empty() || !is_open(output)) continue;
    const Way& way = ways_[output];
    const auto first = receivers_.begin() + static_cast<std::ptrdiff_t>(way.first_lane);
    const bool asked = std::any_of(first, first + static_cast<std::ptrdiff_t>(way.receivers),
                                   [](const Receiver& r) { return r.credits != 0; });
    if (!asked) continue;
    if (exit.order) {
      ordered = true;
    } else {
      close_output(output);
    }
  }
  if (ordered) close_ordered();
  pump();
}

// After Nagle (RFC 896), with a receiver's work in place of a round trip: an item waits for company
// only while those who could take it are busy anyway.
void Outbox::flush_to_idle() {
  if (must_wait()) return;
  bool ordered = false;
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    if (!exits_[output].waiting.empty()) continue;
    const Way& way = ways_[output];
    bool some_idle = false;
    for (std::size_t lane = way.first_lane; lane < way.any_lane(); ++lane) {
      if (!receivers_[lane].is_idle()) continue;
      some_idle = true;
      if (lanes_[lane].count != 0 && !exits_[output].order) close_lane(output, lane, {});
    }
    if (!some_idle || !is_open(output)) continue;
    if (exits_[output].order) {
      ordered = true;
    } else if (lanes_[way.any_lane()].count != 0) {
      close_lane(output, way.any_lane(), {});
    }
  }
  if (ordered) close_ordered();
  pump();
}

void Outbox::put(std::uint32_t output, Packet packet) {
  exits_[output].waiting.push_back({ways_[output].any_lane(), std::move(packet)});
}

void Outbox::barrier(SnapshotId snapshot) {
  flush();
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    if (!exits_[output].ended) put(output, Barrier{snapshot});
  }
  pump();
}

void Outbox::probe(const Probe& probe) {
  flush();
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    if (exits_[output].in_cycle && !exits_[output].ended) put(output, probe);
  }
  pump();
}

void Outbox::end_output(std::uint32_t output) {
  if (std::exchange(exits_[output].ended, true)) return;
  put(output, EndOfStream{});
}

void Outbox::end() {
  flush();
  for (std::uint32_t output = 0; output < outputs(); ++output) end_output(output);
  pump();
}

void Outbox::end_cycle() {
  flush();
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    if (exits_[output].in_cycle) end_output(output);
  }
  pump();
}

void Outbox::on_credit(ReplicaId from, const Credit& credit) {
  const auto lane = lane_of_.find(from);
  ENSURE(lane != lane_of_.end());
  Receiver& receiver = receivers_[lane->second];
  receiver.credits += credit.batches;
  // A peer may claim more than it ever got.
  receiver.outstanding -= std::min<std::uint64_t>(receiver.outstanding, credit.done);
  if (credit.ns_per_item != 0) exits_[receiver.output].pace.heard(credit.ns_per_item);
  set_limits(receiver.output);
}

std::uint64_t Outbox::downstream_ns_per_item() const {
  std::uint64_t slowest = 0;
  for (const Exit& exit : exits_) slowest = std::max(slowest, exit.pace.ns_per_item());
  return slowest;
}

bool Outbox::is_over(std::uint64_t slack) const {
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    const std::size_t allowed = 1 + (exits_[output].splits ? ways_[output].receivers : 0);
    if (exits_[output].waiting_batches > allowed + slack) return true;
  }
  return plan_.starts_order && order_.sequence - released_by_all_ >= plan_.window + slack;
}

bool Outbox::is_open(std::uint32_t output) const {
  const Way& way = ways_[output];
  for (std::size_t lane = way.first_lane; lane <= way.any_lane(); ++lane) {
    if (lanes_[lane].count != 0) return true;
  }
  return false;
}

bool Outbox::is_busy_in_cycle() const {
  const auto in_cycle = [this](const Receiver& receiver) {
    return receiver.outstanding != 0 && exits_[receiver.output].in_cycle;
  };
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    if (exits_[output].in_cycle && (!exits_[output].waiting.empty() || is_open(output)))
      return true;
  }
  return std::any_of(receivers_.begin(), receivers_.end(), in_cycle);
}

bool Outbox::has_open_lane() const {
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    if (is_open(output)) return true;
  }
  return false;
}

bool Outbox::skip(Bytes item) {
  if (!to_skip_.contains(id())) return false;
  port_.skipped(id(), item);
  return true;
}

}  // namespace piracema::runtime
