#include "run/sending/outbox.h"

#include <algorithm>

#include "base/ensure.h"

namespace piracema::runtime {

namespace {
// So that an operator which makes many items of one batch gets to an overdue barrier.
constexpr std::uint64_t bytes_in_a_hurry_max = std::uint64_t{16} << 20;
}  // namespace

Outbox::Outbox(ReplicaId self, const flow::ReplicaPlan& plan, const Graph& graph,
               const SendOptions& options, Port& port, std::atomic<std::uint64_t>* at_work)
    : Lanes(plan, graph, options),
      plan_(plan),
      port_(port),
      to_skip_(options.skips),
      order_(self, plan) {
  skips_ = !to_skip_.empty();
  if (at_work != nullptr) at_work_ = at_work;
  queues_.reserve(plan_.outputs.size());
  for (const flow::OutputPlan& output : plan_.outputs) {
    for (std::size_t i = 0; i < output.targets.size(); ++i) {
      place_of_replica_[output.targets[i]] = {static_cast<std::uint32_t>(queues_.size()), i};
    }
    queues_.emplace_back(output, graph.shape.edges[output.edge], options, port);
  }
}

// ---- what an operator is called for ---------------------------------------------------------

void Outbox::begin_batch(const Batch& batch) {
  if (!order_.is_inherited()) return;
  order_.begin_batch(batch.order);
  begin_positions(!batch.positions.empty());
}

void Outbox::end_batch() {
  if (order_.is_inherited()) close_ordered();
  pump();
}

void Outbox::begin_finish() {
  if (!order_.is_inherited()) return;
  order_.begin_finish();
  inherit_no_positions();
}

bool Outbox::refill() {
  if (source_.is_used_up()) return false;
  const std::int64_t more = source_.next(port_.now());
  budget_ += more;
  return more != 0;
}

bool Outbox::skip(Bytes item) {
  if (!to_skip_.contains(id())) return false;
  port_.skipped(id(), item);
  return true;
}

// ---- from the lanes into the queues ---------------------------------------------------------

void Outbox::lane_full(std::size_t lane) {
  if (is_ordered(place_of(lane).output)) {
    close_ordered();
  } else {
    close_lane(lane, {});
  }
  pump();
  budget_ = 0;
  source_.drop();
  // A source returns instead, so that it can be asked for a barrier meanwhile; one that does not
  // return waits here like the others.
  const std::uint64_t slack = plan_.inputs.empty() ? lanes_.size() : 0;
  if (is_over(slack)) wait_for_room(slack);
}

void Outbox::close_lane(std::size_t lane, const Order& order) {
  Batch batch = close(lane);
  batch.order = order;
  const Place& place = place_of(lane);
  if (queues_[place.output].has_ended()) {
    emitted_after_end_ = true;
  } else {
    queues_[place.output].add(place.receiver, std::move(batch));
  }
}

void Outbox::close_output(std::uint32_t output) {
  const Way& way = ways_[output];
  for (std::size_t lane = way.first_lane; lane <= way.any_lane(); ++lane) {
    if (lanes_[lane].count != 0) close_lane(lane, {});
  }
}

// The batch that is done gets the next number of its order, or keeps the one it came with. What
// took several lanes shares the batch's weight.
void Outbox::close_ordered() {
  for (const std::uint32_t first_output : orders()) {
    const std::vector<std::size_t> parts = filled(first_output);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      close_lane(parts[i], order_.part(i, parts.size()));
    }
  }
  order_.batch_done();
  count_positions_anew();
}

void Outbox::flush() {
  bool ordered = false;
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    if (!is_open(output)) continue;
    if (is_ordered(output)) {
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
    if (now && !lingered(output, *now)) continue;
    const OutputQueue& queue = queues_[output];
    if (!queue.is_empty() || !is_open(output) || !queue.receivers().some_asked()) continue;
    if (is_ordered(output)) {
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
    if (!queues_[output].is_empty()) continue;
    const Receivers& receivers = queues_[output].receivers();
    const Way& way = ways_[output];
    bool some_idle = false;
    for (std::size_t i = 0; i < way.receivers; ++i) {
      if (!receivers.is_idle(i)) continue;
      some_idle = true;
      const std::size_t lane = way.first_lane + i;
      if (lanes_[lane].count != 0 && !is_ordered(output)) close_lane(lane, {});
    }
    if (!some_idle || !is_open(output)) continue;
    if (is_ordered(output)) {
      ordered = true;
    } else if (lanes_[way.any_lane()].count != 0) {
      close_lane(way.any_lane(), {});
    }
  }
  if (ordered) close_ordered();
  pump();
}

// ---- barriers, watermarks and ends --------------------------------------------------------------

void Outbox::barrier(SnapshotId snapshot, SnapshotId complete, Time deadline) {
  flush();
  for (OutputQueue& queue : queues_) queue.add(Barrier{snapshot, complete}, deadline);
  pump();
}

void Outbox::watermark(const Watermark& mark) {
  flush();
  for (OutputQueue& queue : queues_) queue.add(mark);
  pump();
}

bool Outbox::holds_barrier(SnapshotId snapshot) const {
  return std::any_of(queues_.begin(), queues_.end(), [snapshot](const OutputQueue& queue) {
    return queue.holds_barrier(snapshot);
  });
}

bool Outbox::restore(std::size_t lane, Batch batch) {
  // A sink has a lane, but no outputs.
  if (queues_.empty() || lane >= lanes_.size()) return false;
  const Place& place = place_of(lane);
  queues_[place.output].add(place.receiver, std::move(batch));
  return true;
}

void Outbox::probe(const Probe& probe) {
  flush();
  for (OutputQueue& queue : queues_) {
    if (queue.is_in_cycle() && !queue.has_ended()) queue.add(probe);
  }
  pump();
}

void Outbox::end() {
  flush();
  for (OutputQueue& queue : queues_) queue.end();
  pump();
}

void Outbox::end_cycle() {
  flush();
  for (OutputQueue& queue : queues_) {
    if (queue.is_in_cycle()) queue.end();
  }
  pump();
}

bool Outbox::is_busy_in_cycle() const {
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    const OutputQueue& queue = queues_[output];
    if (!queue.is_in_cycle()) continue;
    if (!queue.is_empty() || is_open(output) || queue.receivers().some_busy()) return true;
  }
  return false;
}

// ---- room -----------------------------------------------------------------------------------

void Outbox::on_credit(ReplicaId from, const Credit& credit) {
  const auto known = place_of_replica_.find(from);
  ENSURE(known != place_of_replica_.end());
  const Place& place = known->second;
  queues_[place.output].on_credit(place.receiver, credit);
  if (credit.ns_per_item != 0) heard(place.output, credit.ns_per_item);
}

bool Outbox::is_over(std::uint64_t slack) const {
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    const std::size_t allowed = 1 + (splits(output) ? ways_[output].receivers : 0);
    if (queues_[output].batches() > allowed + slack) return true;
  }
  return order_.is_window_full(slack);
}

std::uint64_t Outbox::bytes_waiting() const {
  std::uint64_t bytes = 0;
  for (const OutputQueue& queue : queues_) bytes += queue.bytes();
  return bytes;
}

void Outbox::wait_for_room(std::uint64_t slack) {
  const Time start = port_.now();
  Time now = start;
  while (is_over(slack)) {
    const bool hurries = hurry_ && bytes_waiting() < bytes_in_a_hurry_max;
    if (hurries && now >= *hurry_) break;
    if (!port_.wait(hurries ? std::optional(*hurry_ - now) : std::nullopt)) break;
    pump();
    now = port_.now();
  }
  waited_ += now - start;
}

}  // namespace piracema::runtime
