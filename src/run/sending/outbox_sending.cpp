// Who gets the batches that wait.
#include <algorithm>
#include <utility>

#include "run/sending/outbox.h"

namespace piracema::runtime {

void Outbox::pump() {
  for (std::uint32_t output = 0; output < outputs(); ++output) pump(output);
}

void Outbox::pump(std::uint32_t output) {
  auto& waiting = exits_[output].waiting;
  while (!waiting.empty() && send_front(output)) waiting.pop_front();
}

bool Outbox::send_front(std::uint32_t output) {
  Waiting& front = exits_[output].waiting.front();
  if (const auto* batch = std::get_if<Batch>(&front.packet)) {
    const std::uint64_t bytes = batch->data.size();
    if (!send_batch(output, front)) return false;
    exits_[output].waiting_batches -= 1;
    bytes_waiting_ -= bytes;
    return true;
  }
  if (auto* barrier = std::get_if<Barrier>(&front.packet)) {
    const bool waits_for_ever = front.deadline == Barrier::forever;
    barrier->patience = waits_for_ever ? Barrier::forever : front.deadline - port_.now();
  }
  if (exits_[output].broadcast) {
    send_to_all(output, std::move(front.packet));
  } else {
    for (const ReplicaId to : plan_.outputs[output].targets) port_.send(to, Packet(front.packet));
  }
  return true;
}

bool Outbox::send_batch(std::uint32_t output, Waiting& waiting) {
  const Way& way = ways_[output];
  std::size_t lane = waiting.lane;
  if (lane == way.any_lane()) {
    if (way.delivery == Delivery::broadcast) return send_batch_to_all(output, waiting);
    const auto free =
        way.delivery == Delivery::round_robin ? next_in_turn(output) : least_busy(output);
    if (!free) return false;
    lane = *free;
    const bool near = way.delivery == Delivery::round_robin && receivers_[lane].near;
    (near ? exits_[output].near_turn : exits_[output].turn) = lane - way.first_lane + 1;
  }
  if (receivers_[lane].credits == 0) return false;
  send_to(lane, std::move(std::get<Batch>(waiting.packet)));
  return true;
}

// On demand (paper 000, section 4.1): only to a replica that has asked; of several the one that has
// least to do, and in turn among equals; of two with the same to do the one in this process (paper
// 004, section 3: local communications are privileged). How much each has asked for does not count:
// a fast one asks for more in advance, and would get items that another one could begin at once.
std::optional<std::size_t> Outbox::least_busy(std::uint32_t output) const {
  const Way& way = ways_[output];
  std::optional<std::size_t> least;
  for (std::size_t i = 0; i < way.receivers; ++i) {
    const std::size_t lane = way.first_lane + (exits_[output].turn + i) % way.receivers;
    if (receivers_[lane].credits == 0) continue;
    if (!least || receivers_[lane].load() < receivers_[*least].load()) least = lane;
  }
  return least;
}

// Round robin between processes (paper 004, section 3, privileges local communications for it as
// well as on demand): those of this process in turn while they have asked, else the others in turn.
std::optional<std::size_t> Outbox::next_in_turn(std::uint32_t output) const {
  const Way& way = ways_[output];
  for (const bool near : {true, false}) {
    const std::size_t turn = near ? exits_[output].near_turn : exits_[output].turn;
    for (std::size_t i = 0; i < way.receivers; ++i) {
      const std::size_t lane = way.first_lane + (turn + i) % way.receivers;
      if (receivers_[lane].near == near && receivers_[lane].credits != 0) return lane;
    }
  }
  return std::nullopt;
}

bool Outbox::send_batch_to_all(std::uint32_t output, Waiting& waiting) {
  const Way& way = ways_[output];
  Broadcast& all = *exits_[output].broadcast;
  if (!all.pace.may_send()) return false;
  for (std::size_t lane = way.first_lane; lane < way.any_lane(); ++lane) {
    if (receivers_[lane].credits == 0) return false;
  }
  all.pace.sent(all.sent, port_.now());
  for (std::size_t lane = way.first_lane; lane < way.any_lane(); ++lane) spend_credit(lane);
  send_to_all(output, std::move(waiting.packet));
  return true;
}

void Outbox::send_to_all(std::uint32_t output, Packet packet) {
  Broadcast& all = *exits_[output].broadcast;
  const std::uint64_t number = all.sent++;
  port_.send_to_all({.node = all.node,
                     .number = number,
                     .done_before = all.pace.done_before(number),
                     .receivers = plan_.outputs[output].targets},
                    std::move(packet));
}

void Outbox::send_to(std::size_t lane, Batch batch) {
  spend_credit(lane);
  port_.send(receivers_[lane].replica, std::move(batch));
}

void Outbox::spend_credit(std::size_t lane) {
  receivers_[lane].credits -= 1;
  receivers_[lane].outstanding += 1;
}

}  // namespace piracema::runtime
