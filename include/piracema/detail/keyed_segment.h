#pragma once

#include <piracema/detail/kept_runs.h>
#include <piracema/detail/keyed_states.h>
#include <piracema/key.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
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
  /// That of a number is not kept: it is found as fast as it is read.
  static constexpr bool keeps_hash = !is_number_key<Key>;

  /// A key and its state. Whether they are there is known beside it.
  struct Slot {
    struct NoHash {};
    [[no_unique_address]] std::conditional_t<keeps_hash, std::uint64_t, NoHash> hash;
    union {
      Key key;
    };
    union {
      V value;
    };

    Slot() noexcept {}
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    ~Slot() {}
    void fill(std::uint64_t with_hash, Key&& with_key, V&& with_value) {
      std::construct_at(std::addressof(key), std::move(with_key));
      try {
        std::construct_at(std::addressof(value), std::move(with_value));
      } catch (...) {
        std::destroy_at(std::addressof(key));
        throw;
      }
      if constexpr (keeps_hash) hash = with_hash;
    }
    void clear() {
      std::destroy_at(std::addressof(key));
      std::destroy_at(std::addressof(value));
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
  KeyedSegment(const KeyedSegment&) = delete;
  KeyedSegment& operator=(const KeyedSegment&) = delete;
  ~KeyedSegment() {
    if constexpr (!std::is_trivially_destructible_v<Key> || !std::is_trivially_destructible_v<V>) {
      for (std::uint32_t i = 0; i < room(); ++i) {
        if (!is_empty(i)) slots[i].clear();
      }
    }
  }

  std::uint32_t room() const { return mask + 1; }
  bool is_empty(std::uint32_t at) const { return beside[at].file == saved_in::no_key; }
  /// The mixed hash of the key that is there.
  std::uint64_t hash_at(std::uint32_t at) const {
    if constexpr (keeps_hash) {
      return slots[at].hash;
    } else {
      return mix(KeyHash<Key>::of(slots[at].key));
    }
  }
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
  std::uint32_t find(const K& key, std::uint64_t hash) const {
    const std::uint8_t tag = tag_of(hash);
    std::uint32_t at = home_of(hash);
    while (!is_empty(at) && !(beside[at].tag == tag && has(at, key, hash))) at = (at + 1) & mask;
    return at;
  }
  /// Where the key most likely is, without a look at any.
  std::uint32_t guess(std::uint64_t hash) const {
    const std::uint8_t tag = tag_of(hash);
    std::uint32_t at = home_of(hash);
    while (!is_empty(at) && beside[at].tag != tag) at = (at + 1) & mask;
    return at;
  }
  /// Calls `use(key, value, hash)` for all, in no order.
  template <class Use>
  void look_at(const Use& use) const {
    for (std::uint32_t i = 0; i < room(); ++i) {
      if (!is_empty(i)) use(slots[i].key, slots[i].value, hash_at(i));
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
    std::uint32_t at = home_of(other.hash_at(from));
    while (!is_empty(at)) at = (at + 1) & mask;
    move(other, from, at);
    count += 1;
  }
  /// Those behind it that would no longer be found move up.
  void erase(std::uint32_t hole) {
    slots[hole].clear();
    beside[hole] = {};
    count -= 1;
    for (std::uint32_t at = (hole + 1) & mask; !is_empty(at); at = (at + 1) & mask) {
      const std::uint32_t home = home_of(hash_at(at));
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      move(*this, at, hole);
      hole = at;
    }
  }
  void grow(std::uint32_t to_room) {
    KeyedSegment larger(depth, prefix, to_room);
    for (std::uint32_t i = 0; i < room(); ++i) {
      if (!is_empty(i)) larger.add(*this, i);
    }
    std::swap(slots, larger.slots);
    std::swap(beside, larger.beside);
    std::swap(mask, larger.mask);
  }
  void keep_nothing() {
    if (std::exchange(keeps, 0) == 0) return;
    for (std::uint32_t at = 0; at < room(); ++at) beside[at].kept = false;
    old = nullptr;
  }

 private:
  template <class K>
  bool has(std::uint32_t at, const K& key, std::uint64_t hash) const {
    if constexpr (keeps_hash) {
      if (slots[at].hash != hash) return false;
    }
    return slots[at].key == key;
  }
  void move(KeyedSegment& other, std::uint32_t from, std::uint32_t to) {
    Slot& slot = other.slots[from];
    slots[to].fill(other.hash_at(from), std::move(slot.key), std::move(slot.value));
    slot.clear();
    beside[to] = std::exchange(other.beside[from], Beside{});
  }
};

}  // namespace piracema::detail
