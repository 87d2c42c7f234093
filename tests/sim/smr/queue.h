#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/clock.h"

namespace piracema::smr_sim {

/// What is to happen, by time; what is for the same time, in the order in which it was put.
///
/// sim/scheduler.h does the same for closures, each with two allocations. Here a run has millions
/// of messages of few kinds, so a payload lies in a slot that is used again.
template <class Payload>
class Queue {
 public:
  void put(Time at, Payload payload) {
    std::uint32_t slot = 0;
    if (free_.empty()) {
      slot = static_cast<std::uint32_t>(slots_.size());
      slots_.push_back(std::move(payload));
    } else {
      slot = free_.back();
      free_.pop_back();
      slots_[slot] = std::move(payload);
    }
    heap_.push_back({at, asked_++, slot});
    std::push_heap(heap_.begin(), heap_.end());
  }

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  Time next() const { return heap_.front().at; }

  Payload pop() {
    std::pop_heap(heap_.begin(), heap_.end());
    const std::uint32_t slot = heap_.back().slot;
    heap_.pop_back();
    free_.push_back(slot);
    return std::move(slots_[slot]);
  }

 private:
  struct Entry {
    Time at;
    std::uint64_t asked;
    std::uint32_t slot;
    // std::push_heap keeps the greatest first.
    bool operator<(const Entry& other) const {
      return at != other.at ? at > other.at : asked > other.asked;
    }
  };
  std::vector<Entry> heap_;
  std::vector<Payload> slots_;
  std::vector<std::uint32_t> free_;
  std::uint64_t asked_ = 0;
};

}  // namespace piracema::smr_sim
