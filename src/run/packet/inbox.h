#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "flow/plan.h"
#include "run/packet/packet.h"

namespace piracema::runtime {

/// What has come to a replica and was not handled yet, in the order in which it came.
class Inbox {
 public:
  struct Incoming {
    std::size_t input;
    Packet packet;
  };

  explicit Inbox(const flow::ReplicaPlan& plan) : held_(plan.inputs.size()) {
    for (const flow::InputPlan& input : plan.inputs) is_back_.push_back(input.back);
  }

  void put(std::size_t input, Packet packet) {
    queue_of(input).push_back({input, std::move(packet)});
  }

  /// Packets that may be handled, but for those that were set aside.
  std::uint32_t size() const { return static_cast<std::uint32_t>(front_.size() + back_.size()); }
  bool empty() const { return front_.empty() && back_.empty(); }

  /// The next one. What came by back edges goes first, so that a cycle does not fill up.
  Incoming take() {
    auto& queue = back_.empty() ? front_ : back_;
    Incoming incoming = std::move(queue.front());
    queue.pop_front();
    return incoming;
  }

  /// Calls `visit(input, packet)` for those that `take` would give, oldest first, but not for what
  /// came by back edges.
  template <class Visit>
  void each(const Visit& visit) const {
    for (const Incoming& incoming : front_) visit(incoming.input, incoming.packet);
  }

  /// Sets one aside that may not be handled yet.
  void hold(Incoming incoming) { held_[incoming.input].push_back(std::move(incoming.packet)); }

  bool holds_some() const {
    return std::any_of(held_.begin(), held_.end(), [](const auto& held) { return !held.empty(); });
  }

  /// What was set aside, but by inputs that are still blocked, comes next, in the order in which it
  /// came.
  template <class IsBlocked>
  void release(const IsBlocked& is_blocked) {
    for (std::size_t input = held_.size(); input-- > 0;) {
      while (!held_[input].empty() && !is_blocked(input)) {
        queue_of(input).push_front({input, std::move(held_[input].back())});
        held_[input].pop_back();
      }
    }
  }

 private:
  std::deque<Incoming>& queue_of(std::size_t input) { return is_back_[input] ? back_ : front_; }

  std::vector<bool> is_back_;
  std::deque<Incoming> front_, back_;
  std::vector<std::deque<Packet>> held_;
};

}  // namespace piracema::runtime
