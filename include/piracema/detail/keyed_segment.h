#pragma once

#include <piracema/detail/kept_runs.h>
#include <piracema/detail/keyed_states.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace piracema::detail {

using namespace engine;

/// A piece of a table of states by key: a hash table with open addresses. Beside each key it has
/// the number of the file that its state was saved in (`saved_in`), apart from the keys, so that
/// what has changed is found without a look at what has not; and the keys that are gone, of which
/// files may have states.
template <class Key, class V>
struct KeyedSegment {
  /// Not 0, which says that a slot is empty.
  static std::uint64_t hash_of(std::uint64_t mixed) { return mixed | 1; }

  struct Slot {
    /// 0: it is empty.
    std::uint64_t hash = 0;
    union {
      Key key;
    };
    union {
      V value;
    };

    Slot() {}
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    ~Slot() { clear(); }
    bool empty() const { return hash == 0; }
    void fill(std::uint64_t with_hash, Key&& with_key, V&& with_value) {
      std::construct_at(std::addressof(key), std::move(with_key));
      try {
        std::construct_at(std::addressof(value), std::move(with_value));
      } catch (...) {
        std::destroy_at(std::addressof(key));
        throw;
      }
      hash = with_hash;
    }
    void clear() {
      if (std::exchange(hash, 0) == 0) return;
      std::destroy_at(std::addressof(key));
      std::destroy_at(std::addressof(value));
    }
    void take(Slot& other) {
      fill(other.hash, std::move(other.key), std::move(other.value));
      other.clear();
    }
  };

  /// What is known of a slot without a look at it: the file that its state was saved in (`no_key`
  /// if it is empty); some bits of the hash, so that few others are looked at for a key; and
  /// whether the key needs not be kept any more for the cut that its segment keeps keys for.
  struct Beside {
    std::uint8_t file = saved_in::no_key, tag : 7 = 0, kept : 1 = 0;
  };
  static_assert(sizeof(Beside) == 2);

  /// A key that is gone, and the file that says so.
  struct Erased {
    Key key;
    std::uint64_t hash = 0;
    std::uint8_t file = saved_in::none;
  };

  /// Versions: of the last write, and of the cut that keys are kept for as they were; another one
  /// has been given up, and the marks and `old` with it.
  std::uint64_t written = 0, keeps = 0;
  std::unique_ptr<Slot[]> slots;
  std::unique_ptr<Beside[]> beside;
  std::uint32_t count = 0, mask = 0, depth = 0, prefix = 0;
  /// Entries as they were at the cut, of keys that have changed since.
  const KeptRuns::Run* old = nullptr;
  /// The cut that it was given to, or that it was not there for.
  std::uint64_t told = 0;
  /// It may have what no file has.
  bool changed = true;
  std::vector<Erased> erased;

  KeyedSegment(std::uint32_t of_depth, std::uint32_t of_prefix, std::uint32_t room)
      : slots(std::make_unique<Slot[]>(room)),
        beside(std::make_unique<Beside[]>(room)),
        mask(room - 1),
        depth(of_depth),
        prefix(of_prefix) {}

  std::uint32_t room() const { return mask + 1; }
  static std::uint8_t tag_of(std::uint64_t hash) {
    return static_cast<std::uint8_t>(hash >> 24 & 0x7f);
  }
  bool has_room() const { return count < mask - mask / 8; }
  /// Where the next one begins, as the bits behind those of the group; 0: this was the last.
  std::uint64_t end() const { return depth == 0 ? 0 : (std::uint64_t{prefix} + 1) << (64 - depth); }
  std::uint32_t home_of(std::uint64_t hash) const {
    return static_cast<std::uint32_t>(hash >> 2) & mask;
  }
  /// Where the key is, or the empty slot where it would be.
  template <class K>
  std::uint32_t find(const K& key, std::uint64_t mixed) const {
    const std::uint64_t hash = hash_of(mixed);
    const std::uint8_t tag = tag_of(hash);
    std::uint32_t at = home_of(hash);
    while (beside[at].file != saved_in::no_key &&
           !(beside[at].tag == tag && slots[at].hash == hash && slots[at].key == key)) {
      at = (at + 1) & mask;
    }
    return at;
  }
  /// Where the key most likely is, without a look at any.
  std::uint32_t guess(std::uint64_t mixed) const {
    const std::uint8_t tag = tag_of(hash_of(mixed));
    std::uint32_t at = home_of(hash_of(mixed));
    while (beside[at].file != saved_in::no_key && beside[at].tag != tag) at = (at + 1) & mask;
    return at;
  }
  /// Calls `use(key, value, mixed)` for all, in no order.
  template <class Use>
  void look_at(const Use& use) const {
    for (std::uint32_t i = 0; i < room(); ++i) {
      if (!slots[i].empty()) use(slots[i].key, slots[i].value, slots[i].hash);
    }
  }
  /// Slot `at` is empty.
  void fill(std::uint32_t at, std::uint64_t hash, Key&& key, bool is_kept) {
    slots[at].fill(hash, std::move(key), V{});
    beside[at].file = saved_in::none_ever;
    beside[at].tag = tag_of(hash) & 0x7f;
    beside[at].kept = is_kept;
    count += 1;
  }
  /// Takes what slot `from` of another one has.
  void add(KeyedSegment& other, std::uint32_t from) {
    std::uint32_t at = home_of(other.slots[from].hash);
    while (!slots[at].empty()) at = (at + 1) & mask;
    move(other, from, at);
    count += 1;
  }
  /// Those behind it that would no longer be found move up.
  void erase(std::uint32_t hole) {
    slots[hole].clear();
    beside[hole].file = saved_in::no_key;
    count -= 1;
    for (std::uint32_t at = (hole + 1) & mask; !slots[at].empty(); at = (at + 1) & mask) {
      const std::uint32_t home = home_of(slots[at].hash);
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      move(*this, at, hole);
      hole = at;
    }
  }
  void grow(std::uint32_t to_room) {
    KeyedSegment larger(depth, prefix, to_room);
    for (std::uint32_t i = 0; i < room(); ++i) {
      if (!slots[i].empty()) larger.add(*this, i);
    }
    std::swap(slots, larger.slots);
    std::swap(beside, larger.beside);
    mask = larger.mask;
  }
  void keep_nothing() {
    if (std::exchange(keeps, 0) == 0) return;
    for (std::uint32_t at = 0; at < room(); ++at) beside[at].kept = false;
    old = nullptr;
  }

 private:
  void move(KeyedSegment& other, std::uint32_t from, std::uint32_t to) {
    slots[to].take(other.slots[from]);
    beside[to] = std::exchange(other.beside[from], Beside{});
  }
};

}  // namespace piracema::detail
