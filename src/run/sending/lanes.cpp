#include "run/sending/lanes.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace piracema::runtime {

namespace {
// An item waits at most about so long for company, where nothing else is said.
constexpr Time linger_max = std::chrono::milliseconds(1);

std::uint32_t batch_items(const flow::OutputPlan& plan, const EdgeShape& edge,
                          const SendOptions& options) {
  std::uint32_t items = 0;
  for (const ReplicaId target : plan.targets) {
    const auto said = options.batches.find(target);
    if (said != options.batches.end() && (items == 0 || said->second < items)) {
      items = said->second;
    }
  }
  return items != 0 ? items : edge.batch.items;
}

bool is_round_robin(Delivery delivery) {
  return delivery == Delivery::round_robin || delivery == Delivery::strict_round_robin;
}

// And some are not.
bool some_are_near(const flow::OutputPlan& plan, const SendOptions& options) {
  const auto near = std::count_if(plan.targets.begin(), plan.targets.end(),
                                  [&](ReplicaId to) { return options.neighbours.contains(to); });
  return near != 0 && near != std::ssize(plan.targets);
}

Router turn_of_each(std::size_t receivers) {
  return [next = std::uint64_t{0}, receivers](const void*) mutable { return next++ % receivers; };
}
}  // namespace

Lanes::Lanes(const flow::ReplicaPlan& plan, const Graph& graph, const SendOptions& options) {
  for (const flow::OutputPlan& output : plan.outputs) add_output(plan, output, graph, options);
  // Somewhere for what a sink emits, against all rules.
  if (ways_.empty()) {
    ways_.emplace_back();
    lanes_.emplace_back();
    ways_[0].items_limit = std::numeric_limits<std::uint32_t>::max();
    ways_[0].bytes_limit = Way::no_limit;
  }
}

void Lanes::add_output(const flow::ReplicaPlan& plan, const flow::OutputPlan& output,
                       const Graph& graph, const SendOptions& options) {
  const EdgeShape& edge = graph.shape.edges[output.edge];
  Way way;
  way.first_lane = lanes_.size();
  way.receivers = output.targets.size();
  way.delivery = edge.delivery;
  way.groups = output.groups;
  way.router = graph.routers[output.edge];
  // By round robin, unless it is strict, some go first if they alone are near: see `Receivers`.
  const bool some_first = way.delivery == Delivery::round_robin && some_are_near(output, options);
  if (is_round_robin(way.delivery) && !some_first) way.router = turn_of_each(way.receivers);
  way.routed =
      way.delivery != Delivery::on_demand && way.delivery != Delivery::broadcast && !some_first;
  if (edge.batch.bytes != 0) way.bytes_limit = edge.batch.bytes;
  Limits limits{.order = output.order, .pace = BatchPace(batch_items(output, edge, options))};
  limits.linger = edge.batch.linger.count() == 0 ? linger_max : Time(edge.batch.linger);
  limits.splits = way.routed || edge.items_may_have_keys || way.delivery == Delivery::broadcast;
  // Two outputs that lead to one ordered node cut a batch like two lanes of one.
  const auto shared = std::count_if(plan.outputs.begin(), plan.outputs.end(),
                                    [&](const auto& other) { return other.order == output.order; });
  limits.cuts = output.order && (limits.splits || shared > 1);
  limits.leaves_whole = output.order && !plan.starts_order;
  way.keeps_positions = limits.cuts;
  const std::uint32_t number = outputs();
  const bool is_first = std::none_of(limits_.begin(), limits_.end(), [&](const Limits& before) {
    return before.order == output.order;
  });
  if (output.order && is_first) orders_.push_back(number);
  for (std::size_t i = 0; i <= way.receivers; ++i) places_.push_back({number, i});
  lanes_.resize(places_.size());
  ways_.push_back(std::move(way));
  limits_.push_back(std::move(limits));
  set_limits(number);
}

void Lanes::set_limits(std::uint32_t output) {
  if (limits_[output].leaves_whole) {
    ways_[output].items_limit = std::numeric_limits<std::uint32_t>::max();
    ways_[output].bytes_limit = Way::no_limit;
  } else {
    ways_[output].items_limit = limits_[output].pace.items();
  }
}

bool Lanes::is_open(std::uint32_t output) const {
  const Way& way = ways_[output];
  for (std::size_t lane = way.first_lane; lane <= way.any_lane(); ++lane) {
    if (lanes_[lane].count != 0) return true;
  }
  return false;
}

Batch Lanes::close(std::size_t lane) {
  Batch batch = std::exchange(lanes_[lane], {});
  items_sent_ += batch.count;
  bytes_sent_ += batch.data.size();
  // The next batch of the lane will be about as large. A single item of a known size takes its
  // memory at once, or brings it.
  if (batch.count != 1 || batch.item_bytes == 0) {
    lanes_[lane].data.reserve(std::min(batch.data.size(), std::size_t{1} << 20));
  }
  return batch;
}

void Lanes::heard(std::uint32_t output, std::uint64_t ns_per_item) {
  limits_[output].pace.heard(ns_per_item);
  set_limits(output);
}

bool Lanes::lingered(std::uint32_t output, Time now) {
  Limits& limits = limits_[output];
  if (now - limits.flushed < limits.linger) return false;
  limits.flushed = now;
  return true;
}

std::uint64_t Lanes::downstream_ns_per_item() const {
  std::uint64_t slowest = 0;
  for (const Limits& limits : limits_) slowest = std::max(slowest, limits.pace.ns_per_item());
  return slowest;
}

void Lanes::begin_positions(bool inherited) {
  emitted_ = 0;
  inherits_positions_ = inherited;
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    ways_[output].keeps_positions = is_ordered(output) && (limits_[output].cuts || inherited);
  }
}

std::vector<std::size_t> Lanes::filled(std::uint32_t first_output) {
  std::vector<std::size_t> filled;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const bool same = limits_[places_[lane].output].order == limits_[first_output].order;
    if (same && lanes_[lane].count != 0) filled.push_back(lane);
  }
  if (filled.empty()) filled.push_back(ways_[first_output].any_lane());
  if (filled.size() == 1) {
    const std::size_t lane = filled[0];
    const Way& way = ways_[places_[lane].output];
    const bool broadcast = lane == way.any_lane() && way.delivery == Delivery::broadcast;
    // Whole, and in its own order: positions say nothing more.
    if (!inherits_positions_ && !broadcast) lanes_[lane].positions.clear();
  }
  return filled;
}

}  // namespace piracema::runtime
