#include "run/sending/output_queue.h"

#include <utility>
#include <vector>

namespace piracema::runtime {

namespace {

std::vector<bool> are_near(const flow::OutputPlan& plan, const SendOptions& options) {
  std::vector<bool> near;
  near.reserve(plan.targets.size());
  for (const ReplicaId target : plan.targets) near.push_back(options.neighbours.contains(target));
  return near;
}

}  // namespace

OutputQueue::OutputQueue(const flow::OutputPlan& plan, const EdgeShape& edge,
                         const SendOptions& options, Port& port)
    : plan_(plan),
      port_(port),
      receivers_(are_near(plan, options), edge.delivery == Delivery::round_robin
                                              ? Receivers::Choice::round_robin
                                              : Receivers::Choice::least_busy) {
  if (edge.delivery == Delivery::broadcast) {
    broadcast_ = {.node = edge.to, .pace = BroadcastPace(plan.targets.size())};
  }
}

void OutputQueue::add(std::size_t receiver, Batch&& batch) {
  bytes_ += batch.data.size();
  batches_ += 1;
  waiting_.push_back({receiver, std::move(batch)});
}

void OutputQueue::add(const Barrier& barrier, Time deadline) {
  // An end that has left stands for all barriers, and so does one of a cycle.
  if (ended_ && (plan_.in_cycle || waiting_.empty())) return;
  const auto at = waiting_.end() - (ended_ ? 1 : 0);
  waiting_.insert(at, {receivers_.size(), barrier, deadline});
}

void OutputQueue::add(const Watermark& mark) {
  if (ended_ || plan_.in_cycle) return;
  const bool is_last =
      !waiting_.empty() && std::holds_alternative<Watermark>(waiting_.back().packet);
  if (is_last) waiting_.pop_back();
  waiting_.push_back({receivers_.size(), mark});
}

void OutputQueue::end() {
  if (!std::exchange(ended_, true)) waiting_.push_back({receivers_.size(), EndOfStream{}});
}

void OutputQueue::on_credit(std::size_t receiver, const Credit& credit) {
  receivers_.on_credit(receiver, credit);
  if (broadcast_) broadcast_->pace.done(receiver, credit.done, port_.now());
}

bool OutputQueue::holds_barrier(SnapshotId snapshot) const {
  return std::any_of(waiting_.begin(), waiting_.end(), [snapshot](const Waiting& waiting) {
    const auto* barrier = std::get_if<Barrier>(&waiting.packet);
    return barrier != nullptr && barrier->snapshot <= snapshot;
  });
}

bool OutputQueue::send_front() {
  Waiting& front = waiting_.front();
  if (const auto* batch = std::get_if<Batch>(&front.packet)) {
    const std::uint64_t bytes = batch->data.size();
    if (!send_batch(front)) return false;
    batches_ -= 1;
    bytes_ -= bytes;
    return true;
  }
  if (auto* barrier = std::get_if<Barrier>(&front.packet)) {
    const bool waits_for_ever = front.deadline == Barrier::forever;
    barrier->patience = waits_for_ever ? Barrier::forever : front.deadline - port_.now();
  }
  if (broadcast_) {
    send_to_all(std::move(front.packet));
  } else {
    for (const ReplicaId to : plan_.targets) port_.send(to, Packet(front.packet));
  }
  return true;
}

bool OutputQueue::send_batch(Waiting& waiting) {
  std::size_t receiver = waiting.receiver;
  const bool is_for_any = receiver == receivers_.size();
  if (is_for_any && broadcast_) {
    if (!broadcast_->pace.may_send() || !receivers_.take_all()) return false;
    broadcast_->pace.sent(broadcast_->sent, port_.now());
    send_to_all(std::move(waiting.packet));
    return true;
  }
  if (is_for_any) {
    const auto chosen = receivers_.take_any();
    if (!chosen) return false;
    receiver = *chosen;
  } else if (!receivers_.take(receiver)) {
    return false;
  }
  port_.send(plan_.targets[receiver], std::get<Batch>(std::move(waiting.packet)));
  return true;
}

void OutputQueue::send_to_all(Packet packet) {
  const std::uint64_t number = broadcast_->sent++;
  port_.send_to_all({.node = broadcast_->node,
                     .number = number,
                     .done_before = broadcast_->pace.done_before(number),
                     .receivers = plan_.targets},
                    std::move(packet));
}

}  // namespace piracema::runtime
