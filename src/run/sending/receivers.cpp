#include "run/sending/receivers.h"

#include <algorithm>

namespace piracema::runtime {

Receivers::Receivers(const std::vector<bool>& near, Choice choice) : choice_(choice) {
  receivers_.reserve(near.size());
  for (const bool is_near : near) receivers_.push_back({.near = is_near});
}

void Receivers::on_credit(std::size_t index, const Credit& credit) {
  Receiver& receiver = receivers_[index];
  receiver.credits += credit.batches;
  // A peer may claim more than it ever got.
  receiver.outstanding -= std::min<std::uint64_t>(receiver.outstanding, credit.done);
}

std::optional<std::size_t> Receivers::take_any() {
  const bool by_turn = choice_ == Choice::round_robin;
  const auto chosen = by_turn ? next_in_turn() : least_busy();
  if (!chosen) return std::nullopt;
  Receiver& receiver = receivers_[*chosen];
  (by_turn && receiver.near ? near_turn_ : turn_) = *chosen + 1;
  spend(receiver);
  return chosen;
}

bool Receivers::take(std::size_t receiver) {
  if (receivers_[receiver].credits == 0) return false;
  spend(receivers_[receiver]);
  return true;
}

bool Receivers::take_all() {
  const auto has_none = [](const Receiver& receiver) { return receiver.credits == 0; };
  if (std::any_of(receivers_.begin(), receivers_.end(), has_none)) return false;
  for (Receiver& receiver : receivers_) spend(receiver);
  return true;
}

bool Receivers::some_asked() const {
  return std::any_of(receivers_.begin(), receivers_.end(),
                     [](const Receiver& receiver) { return receiver.credits != 0; });
}

bool Receivers::some_busy() const {
  return std::any_of(receivers_.begin(), receivers_.end(),
                     [](const Receiver& receiver) { return receiver.outstanding != 0; });
}

// On demand (paper 000, section 4.1): only to a replica that has asked; of several the one that has
// least to do, and in turn among equals; of two with the same to do the one in this process (paper
// 004, section 3: local communications are privileged). How much each has asked for does not count:
// a fast one asks for more in advance, and would get items that another one could begin at once.
std::optional<std::size_t> Receivers::least_busy() const {
  std::optional<std::size_t> least;
  for (std::size_t i = 0; i < receivers_.size(); ++i) {
    const std::size_t next = (turn_ + i) % receivers_.size();
    if (receivers_[next].credits == 0) continue;
    if (!least || receivers_[next].load() < receivers_[*least].load()) least = next;
  }
  return least;
}

// Round robin between processes (paper 004, section 3, privileges local communications for it as
// well as on demand): those of this process in turn while they have asked, else the others in turn.
std::optional<std::size_t> Receivers::next_in_turn() const {
  for (const bool near : {true, false}) {
    const std::size_t turn = near ? near_turn_ : turn_;
    for (std::size_t i = 0; i < receivers_.size(); ++i) {
      const std::size_t next = (turn + i) % receivers_.size();
      if (receivers_[next].near == near && receivers_[next].credits != 0) return next;
    }
  }
  return std::nullopt;
}

}  // namespace piracema::runtime
