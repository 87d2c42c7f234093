#pragma once

#include <cstdint>
#include <vector>

namespace piracema::smr {

/// What is known of each key of StateMachine::keys, within one window of operations. Forgetting
/// all takes no time, and memory is reused.
template <class Value>
class KeyTable {
 public:
  KeyTable() : slots_(1'024) {}

  void clear() {
    generation_ += 1;
    used_ = 0;
  }

  /// The value of the key; a new one if there was none. Valid until the next call.
  Value& at(std::uint64_t key) {
    if (2 * used_ >= slots_.size()) grow();
    Slot& slot = find(key);
    if (slot.generation != generation_) {
      slot = {key, generation_, Value{}};
      used_ += 1;
    }
    return slot.value;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    /// Of an older one: free.
    std::uint64_t generation = 0;
    Value value{};
  };

  Slot& find(std::uint64_t key) {
    // Keys may be small numbers; the high bits of the product depend on all of them.
    std::size_t at = (key * 0x9E37'79B9'7F4A'7C15u) >> 32 & (slots_.size() - 1);
    while (slots_[at].generation == generation_ && slots_[at].key != key) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return slots_[at];
  }

  void grow() {
    std::vector<Slot> before(2 * slots_.size());
    before.swap(slots_);
    for (const Slot& slot : before) {
      if (slot.generation == generation_) find(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;
  std::uint64_t generation_ = 1;
  std::size_t used_ = 0;
};

}  // namespace piracema::smr
