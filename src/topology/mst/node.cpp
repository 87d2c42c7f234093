#include "topology/mst/node.h"

#include <algorithm>

namespace piracema::coll::mst {

Sends Node::start(const std::vector<std::pair<Rank, double>>& costs) {
  ENSURE(idle());
  round_ += 1;
  phase_ = Phase::failures;
  Sends out;
  take_failures(costs);
  begin_failures(out);
  retry(out);
  return out;
}

Sends Node::on(Rank from, const Message& message) {
  Sends out;
  if (handle(from, message, out)) {
    retry(out);
  } else {
    deferred_.emplace_back(from, message);
  }
  return out;
}

// Whatever was handled may be what a deferred message has waited for.
void Node::retry(Sends& out) {
  for (std::size_t i = 0; i < deferred_.size();) {
    const auto [from, message] = deferred_[i];
    if (handle(from, message, out)) {
      deferred_.erase(deferred_.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    } else {
      i += 1;
    }
  }
}

bool Node::handle(Rank from, const Message& message, Sends& out) {
  // A neighbour may be a round ahead; nobody is behind, since a round ends when all is said.
  if (idle() || message.round != round_) {
    ENSURE(message.round == round_ + 1);
    return false;
  }
  switch (message.type) {
    case MessageType::fail:
      on_fail(out);
      return true;
    case MessageType::not_fail:
      on_not_fail(from, message.number, out);
      return true;
    case MessageType::not_fail_ack:
      on_not_fail_ack(message.number, out);
      return true;
    case MessageType::gosleep_fail:
      sleep_failures(from, out);
      return true;
    case MessageType::not_rec:
      on_not_rec(from, message.number, out);
      return true;
    case MessageType::not_rec_ack:
      on_not_rec_ack(from, message, out);
      return true;
    case MessageType::go_on:
      on_go_on(message, out);
      return true;
    case MessageType::recover:
      on_recover(from, message, out);
      return true;
    case MessageType::recover_ack:
      on_recover_ack(from, message, out);
      return true;
    case MessageType::swap:
      on_swap(from, message, out);
      return true;
    case MessageType::swap_done:
      edges_.mark(from, EdgeState::branch);
      go_on(out);
      return true;
    case MessageType::gosleep_rec:
      sleep_recoveries(from, out);
      return true;
    default:
      if (!fragment_.on(from, message, edges_, out)) return false;
      on_fragment(out);
      return true;
  }
}

void Node::send(Sends& out, Rank to, MessageType type, std::uint32_t number, Weight weight,
                Weight other, bool flag) const {
  out.push_back({to,
                 {.type = type,
                  .flag = flag,
                  .round = round_,
                  .number = number,
                  .weight = weight,
                  .other = other}});
}

std::uint32_t Node::spread(Sends& out, Rank from, MessageType type, std::uint32_t number,
                           Weight weight, Weight other) const {
  const auto neighbours = edges_.branches(from);
  for (const Rank to : neighbours) send(out, to, type, number, weight, other);
  return static_cast<std::uint32_t>(neighbours.size());
}

}  // namespace piracema::coll::mst
