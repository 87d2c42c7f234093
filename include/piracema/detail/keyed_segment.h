#pragma once

#include <piracema/detail/fetch.h>
#include <piracema/detail/kept_runs.h>
#include <piracema/detail/keyed_states.h>
#include <piracema/detail/slot_index.h>
#include <piracema/key.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace piracema::detail {

using namespace engine;

/// A piece of a table of states by key. The keys and states lie one behind the other, in chunks of
/// some kilobytes of which the last one grows, so that little room is not used. An index finds
/// them, and has beside each the number of the file that its state was saved in (`saved_in`), apart
/// from the keys, so that what has changed is found without a look at what has not. There are also
/// the keys that are gone, of which files may have states.
///
/// The index lies behind it, and what is looked at for each key in one line of the processor's
/// caches, so that a key costs few waits for memory. One that has to grow is replaced by a larger
/// one.
template <class Key, class V>
class alignas(line_bytes) KeyedSegment {
 public:
  /// That of a number is not kept: it is found as fast as it is read.
  static constexpr bool keeps_hash = !is_number_key<Key>;

  /// A key and its state.
  struct Slot {
    struct NoHash {
      explicit NoHash(std::uint64_t) {}
    };
    using Hash = std::conditional_t<keeps_hash, std::uint64_t, NoHash>;

    [[no_unique_address]] Hash hash;
    Key key;
    V value;

    Slot(std::uint64_t with_hash, Key&& with_key)
        : hash(with_hash), key(std::move(with_key)), value() {}
  };

  /// A power of two, and as many as some kilobytes have.
  static constexpr std::uint32_t per_chunk =
      std::bit_floor(static_cast<std::uint32_t>(std::max<std::size_t>(4'096 / sizeof(Slot), 1)));

  /// A key that is gone, and the file that says so.
  struct Erased {
    Key key;
    std::uint64_t hash = 0;
    std::uint8_t file = saved_in::none;
  };

  /// Where a key is, until one is added.
  using At = SlotIndex::At;
  static constexpr At nowhere = SlotIndex::nowhere;

  struct Free {
    void operator()(KeyedSegment* segment) const {
      std::destroy_at(segment);
      ::operator delete (segment, std::align_val_t{line_bytes});
    }
  };
  using Owner = std::unique_ptr<KeyedSegment, Free>;

  /// The most room of one whose hashes let it be divided.
  static constexpr std::uint32_t room_max = 4 * per_chunk;

  /// Of the keys whose hashes have this prefix, a number of `depth` bits, behind those of the
  /// group.
  static Owner make(std::uint32_t depth, std::uint32_t prefix, std::uint32_t room) {
    if (room > SlotIndex::slots_max) {
      throw std::length_error(
          "65,536 keys of one group have hashes that begin alike, and more do not fit: KeyHash of "
          "this type of key has to spread them");
    }
    const std::size_t bytes =
        sizeof(KeyedSegment) + SlotIndex::buckets_for(room) * sizeof(SlotIndex::Bucket);
    void* const block = ::operator new (bytes, std::align_val_t{line_bytes});
    return Owner(
        std::construct_at(static_cast<KeyedSegment*>(block), depth, prefix, room, ForMake{}));
  }
  /// One with more room, in its place: it has all that this one had, which is empty then.
  Owner larger(std::uint32_t room) {
    Owner all = make(depth_, prefix_, room);
    all->written = written;
    all->keeps = keeps;
    all->told = told;
    all->old = old;
    all->changed = changed;
    all->erased = std::move(erased);
    std::copy_n(chunks_, chunks_for(capacity_), all->chunks_);
    index().for_each(
        [&](At at) { all->index().add(hash_at(at), index().number(at), file(at), is_kept(at)); });
    all->count_ = std::exchange(count_, 0);
    all->capacity_ = std::exchange(capacity_, 0);
    return all;
  }
  KeyedSegment(const KeyedSegment&) = delete;
  KeyedSegment& operator=(const KeyedSegment&) = delete;
  ~KeyedSegment() {
    for (std::uint32_t number = 0; number < count_; ++number) std::destroy_at(&numbered(number));
    for (std::uint32_t i = 0; i < chunks_for(capacity_); ++i) free_chunk(i);
    if (chunks_ != few_chunks_) delete[] chunks_;
  }

  std::uint32_t depth() const { return depth_; }
  std::uint32_t prefix() const { return prefix_; }
  /// Where the next one begins, as the bits behind those of the group; 0: this was the last.
  std::uint64_t end() const {
    return depth_ == 0 ? 0 : (std::uint64_t{prefix_} + 1) << (64 - depth_);
  }

  /// How many keys it has, and may have.
  std::uint32_t count() const { return count_; }
  std::uint32_t room() const { return room_; }
  bool has_room() const { return count_ < room_; }

  Slot& slot(At at) { return numbered(index().number(at)); }
  const Slot& slot(At at) const { return numbered(index().number(at)); }
  /// Where its state was saved.
  std::uint8_t& file(At at) { return index().file(at); }
  std::uint8_t file(At at) const { return index().file(at); }
  /// Whether it needs not be kept any more for the cut that keys are kept for.
  bool is_kept(At at) const { return index().is_kept(at); }
  void keep(At at) { index().keep(at); }
  void keep_nothing() {
    if (std::exchange(keeps, 0) == 0) return;
    index().keep_nothing();
    old = nullptr;
  }

  /// The mixed hash of a key.
  std::uint64_t hash_at(At at) const { return hash_of(slot(at)); }
  /// Where a key is, or `nowhere`.
  template <class K>
  At find(const K& key, std::uint64_t hash) const {
    return index().find(hash, [&](std::uint32_t number) {
      const Slot& one = numbered(number);
      if constexpr (keeps_hash) {
        if (one.hash != hash) return false;
      }
      return one.key == key;
    });
  }
  /// Calls `use(at)` for all, in no order. It may erase that one.
  template <class Use>
  void for_each(const Use& use) const {
    index().for_each(use);
  }
  /// Calls `use(key, value, hash)` for all, in no order.
  template <class Use>
  void look_at(const Use& use) const {
    for_each([&](At at) { use(slot(at).key, slot(at).value, hash_at(at)); });
  }
  /// What is looked at for a key is on its way to the processor's caches, in three steps.
  static void fetch_head(const KeyedSegment* segment) { fetch(segment); }
  void fetch_home(std::uint64_t hash) const { fetch(&index().home(hash)); }
  void fetch_slot(std::uint64_t hash) const {
    if (const At at = index().guess(hash); at != nowhere) fetch_all(&slot(at), 1);
  }
  /// What is looked at to find what has changed.
  void fetch_index() const { fetch_all(&index().home(0), buckets_); }

  /// A key that it does not have, with `V{}`; there is room.
  At add(std::uint64_t hash, Key&& key, bool is_kept) {
    std::construct_at(next(), hash, std::move(key));
    return index().add(hash, count_++, saved_in::none_ever, is_kept);
  }
  /// Takes what another one has there, and leaves what was moved from; there is room.
  void take(KeyedSegment& other, At at) {
    std::construct_at(next(), std::move(other.slot(at)));
    index().add(hash_of(numbered(count_)), count_, other.file(at), other.is_kept(at));
    count_ += 1;
  }
  /// Returns the key. The last one gets its slot.
  Key erase(At at) {
    const std::uint32_t hole = index().number(at), last = count_ - 1;
    index().remove(at, hash_at(at));
    Key gone = std::move(numbered(hole).key);
    std::destroy_at(&numbered(hole));
    if (hole != last) {
      const At from = index().find(hash_of(numbered(last)),
                                   [&](std::uint32_t number) { return number == last; });
      index().renumber(from, hole);
      std::construct_at(&numbered(hole), std::move(numbered(last)));
      std::destroy_at(&numbered(last));
    }
    count_ = last;
    return gone;
  }

  /// By `make` alone, which knows how much memory it takes.
  struct ForMake {};
  KeyedSegment(std::uint32_t depth, std::uint32_t prefix, std::uint32_t room, ForMake)
      : buckets_(SlotIndex::buckets_for(room)), room_(room), depth_(depth), prefix_(prefix) {
    if (room > room_max) chunks_ = new Slot*[chunks_for(room)];
    index().clear();
  }

 private:
  static std::uint32_t chunks_for(std::uint32_t slots) {
    return (slots + per_chunk - 1) / per_chunk;
  }
  static std::uint64_t hash_of(const Slot& slot) {
    if constexpr (keeps_hash) {
      return slot.hash;
    } else {
      return mix(KeyHash<Key>::of(slot.key));
    }
  }

  SlotIndex index() const {
    return {reinterpret_cast<SlotIndex::Bucket*>(const_cast<KeyedSegment*>(this) + 1), buckets_};
  }
  Slot& numbered(std::uint32_t number) const {
    return chunks_[number / per_chunk][number % per_chunk];
  }
  std::uint32_t slots_of(std::uint32_t chunk) const {
    return std::min(capacity_ - chunk * per_chunk, per_chunk);
  }
  void free_chunk(std::uint32_t chunk) {
    std::allocator<Slot>().deallocate(chunks_[chunk], slots_of(chunk));
  }
  // Where the next key comes.
  Slot* next() {
    if (count_ == capacity_) [[unlikely]]
      add_capacity();
    return &numbered(count_);
  }
  // The last chunk grows by a quarter of a whole one, or there is one more.
  void add_capacity() {
    constexpr std::uint32_t more = std::max(per_chunk / 4, 1U);
    const std::uint32_t last = capacity_ / per_chunk, used = capacity_ % per_chunk;
    Slot* const chunk = std::allocator<Slot>().allocate(used + more);
    if (used != 0) {
      std::uninitialized_move_n(chunks_[last], used, chunk);
      std::destroy_n(chunks_[last], used);
      free_chunk(last);
    }
    chunks_[last] = chunk;
    capacity_ += more;
  }

  // What each key looks at comes first, and is one line of the caches.
 public:
  /// Versions: of the last write, and of the cut that keys are kept for as they were; another one
  /// has been given up, and the marks and `old` with it.
  std::uint64_t written = 0, keeps = 0;

 private:
  std::uint32_t buckets_, count_ = 0;
  Slot* few_chunks_[room_max / per_chunk];
  Slot** chunks_ = few_chunks_;

 public:
  /// The cut that it was given to, or that it was not there for.
  std::uint64_t told = 0;
  /// Entries as they were at the cut, of keys that have changed since.
  const KeptRuns::Run* old = nullptr;
  std::vector<Erased> erased;
  /// It may have what no file has.
  bool changed = true;

 private:
  /// How many slots the chunks have.
  std::uint32_t capacity_ = 0;
  std::uint32_t room_, depth_, prefix_;
};

}  // namespace piracema::detail
