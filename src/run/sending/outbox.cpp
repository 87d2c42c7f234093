#include "run/sending/outbox.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/ensure.h"

namespace piracema::runtime {

namespace {
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

bool is_round_robin(Delivery delivery) {
  return delivery == Delivery::round_robin || delivery == Delivery::strict_round_robin;
}

// And some are not.
bool some_are_near(const flow::OutputPlan& plan, const Surroundings& surroundings) {
  const auto near = std::count_if(plan.targets.begin(), plan.targets.end(), [&](ReplicaId to) {
    return surroundings.neighbours.contains(to);
  });
  return near != 0 && near != std::ssize(plan.targets);
}

Router turn_of_each(std::size_t receivers) {
  return [next = std::uint64_t{0}, receivers](const void*) mutable { return next++ % receivers; };
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
    ways_[0].bytes_limit = Way::no_limit;
  }
}

void Outbox::add_output(const flow::OutputPlan& plan, const Graph& graph,
                        const Surroundings& surroundings) {
  const EdgeShape& edge = graph.shape.edges[plan.edge];
  Way way;
  way.first_lane = lanes_.size();
  way.receivers = plan.targets.size();
  way.delivery = edge.delivery;
  way.groups = plan.groups;
  way.router = graph.routers[plan.edge];
  // By round robin, unless it is strict, some go first if they alone are near: see `next_in_turn`.
  const bool some_first =
      way.delivery == Delivery::round_robin && some_are_near(plan, surroundings);
  if (is_round_robin(way.delivery) && !some_first) way.router = turn_of_each(way.receivers);
  way.routed =
      way.delivery != Delivery::on_demand && way.delivery != Delivery::broadcast && !some_first;
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
  if (way.delivery == Delivery::broadcast) {
    exit.broadcast = {.node = edge.to, .pace = BroadcastPace(way.receivers)};
  }
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
    ways_[output].bytes_limit = Way::no_limit;
  } else {
    ways_[output].items_limit = exits_[output].pace.items();
  }
}

void Outbox::put(std::uint32_t output, Packet packet) {
  exits_[output].waiting.push_back({ways_[output].any_lane(), std::move(packet)});
}

void Outbox::barrier(SnapshotId snapshot, SnapshotId complete, Time deadline) {
  flush();
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    Exit& exit = exits_[output];
    // An end that has left stands for all barriers, and so does one of a cycle.
    if (exit.ended && (exit.in_cycle || exit.waiting.empty())) continue;
    const auto at = exit.waiting.end() - (exit.ended ? 1 : 0);
    exit.waiting.insert(at, {ways_[output].any_lane(), Barrier{snapshot, complete}, deadline});
  }
  pump();
}

bool Outbox::holds_barrier(SnapshotId snapshot) const {
  return std::any_of(exits_.begin(), exits_.end(), [snapshot](const Exit& exit) {
    return std::any_of(exit.waiting.begin(), exit.waiting.end(), [snapshot](const Waiting& front) {
      const auto* barrier = std::get_if<Barrier>(&front.packet);
      return barrier != nullptr && barrier->snapshot <= snapshot;
    });
  });
}

bool Outbox::restore(std::size_t lane, Batch batch) {
  // A sink has a lane, but no outputs.
  if (exits_.empty() || lane >= receivers_.size()) return false;
  Exit& exit = exits_[receivers_[lane].output];
  bytes_waiting_ += batch.data.size();
  exit.waiting.push_back({lane, std::move(batch)});
  exit.waiting_batches += 1;
  return true;
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
  if (auto& all = exits_[receiver.output].broadcast) {
    all->pace.done(lane->second - ways_[receiver.output].first_lane, credit.done, port_.now());
  }
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

bool Outbox::skip(Bytes item) {
  if (!to_skip_.contains(id())) return false;
  port_.skipped(id(), item);
  return true;
}

}  // namespace piracema::runtime
