#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "topology/trees/costs.h"

namespace piracema::coll {

/// Gives what comes from each neighbour on in the order in which it was sent, each once, whatever
/// the network did to the order: nine of ten runs of GHS never end without it.
template <class Message>
class InOrder {
 public:
  /// The number to send with the next message to `to`.
  std::uint64_t number_for(Rank to) { return sent_[to]++; }

  /// What can be given on, now that this has come; nothing if something before it is missing.
  std::vector<Message> on(Rank from, std::uint64_t number, Message message) {
    std::vector<Message> ready;
    Arrivals& arrivals = arrivals_[from];
    if (number < arrivals.next) return ready;
    arrivals.early.emplace(number, std::move(message));
    for (auto it = arrivals.early.begin(); it != arrivals.early.end() && it->first == arrivals.next;
         it = arrivals.early.erase(it), arrivals.next += 1) {
      ready.push_back(std::move(it->second));
    }
    return ready;
  }
  /// All below have been given on.
  std::uint64_t next_from(Rank from) const {
    const auto arrivals = arrivals_.find(from);
    return arrivals == arrivals_.end() ? 0 : arrivals->second.next;
  }
  auto operator<=>(const InOrder&) const = default;

 private:
  struct Arrivals {
    std::uint64_t next = 0;
    std::map<std::uint64_t, Message> early;
    auto operator<=>(const Arrivals&) const = default;
  };
  std::map<Rank, std::uint64_t> sent_;
  std::map<Rank, Arrivals> arrivals_;
};

}  // namespace piracema::coll
