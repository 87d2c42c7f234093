#pragma once

#include <piracema/detail/keyed_states.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace piracema::detail {

using namespace engine;

/// Finds the slots of keys by their hashes. Slots are numbered from 0 and lie elsewhere, one behind
/// the other. Here each has a place in one of the buckets of seven, half a cache line each: a tag
/// of eight bits of its hash, its number, and what is known of it without a look at it. All tags of
/// a bucket are looked at together, as in Abseil's tables. A slot whose bucket is full goes to a
/// later one; each bucket counts those that had to go on (as in Folly's F14), so that nothing is
/// left behind where one goes.
///
/// It is a view of buckets that somebody else has.
class SlotIndex {
 public:
  struct alignas(32) Bucket {
    static constexpr std::uint32_t places = 7;

    /// 0: there is no slot.
    std::uint8_t tags[places];
    /// How many slots had to go on; if there were once as many as it can count, it stays so.
    std::uint8_t went_on;
    /// Where the states were saved (`saved_in`).
    std::uint8_t files[places];
    /// A bit for each slot whose key needs not be kept any more for a cut.
    std::uint8_t kept;
    std::uint16_t numbers[places];

    /// A bit for each slot with this tag.
    std::uint32_t with(std::uint32_t tag) const {
#ifdef __SSE2__
      const __m128i all = _mm_load_si128(reinterpret_cast<const __m128i*>(this));
      // Not by set1_epi8: a byte that g++ keeps in memory meanwhile is waited for.
      const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag * 0x0101'0101U));
      const __m128i same = _mm_cmpeq_epi8(all, wanted);
      return static_cast<std::uint32_t>(_mm_movemask_epi8(same)) & all_places;
#else
      std::uint32_t same = 0;
      for (std::uint32_t i = 0; i < places; ++i) same |= std::uint32_t{tags[i] == tag} << i;
      return same;
#endif
    }
    /// A bit for each slot that is there.
    std::uint32_t used() const { return ~with(0) & all_places; }

   private:
    static constexpr std::uint32_t all_places = (1U << places) - 1;
  };

  /// A place: that of its bucket by 8, and which of it.
  using At = std::uint32_t;
  static constexpr At nowhere = ~At{0};
  /// So many slots have numbers.
  static constexpr std::uint32_t slots_max = 65'536;

  /// How many buckets so many slots want: seven tenths of the places are used then.
  static std::uint32_t buckets_for(std::uint32_t slots) {
    return slots <= Bucket::places ? 1 : (slots * 10 + 42 - 1) / 42;
  }

  SlotIndex(Bucket* buckets, std::uint32_t count) : buckets_(buckets), count_(count) {}
  /// The memory has nothing that counts yet.
  void clear() { std::fill_n(buckets_, count_, Bucket{}); }

  /// Where the slot with this hash is of which `is_it(number)`, or `nowhere`.
  template <class IsIt>
  At find(std::uint64_t hash, const IsIt& is_it) const {
    const std::uint32_t tag = tag_of(hash);
    std::uint32_t in = home_of(hash);
    for (std::uint32_t left = count_; left != 0; --left) {
      const Bucket& bucket = buckets_[in];
      for (std::uint32_t same = bucket.with(tag); same != 0; same &= same - 1) {
        const auto place = static_cast<std::uint32_t>(std::countr_zero(same));
        if (is_it(bucket.numbers[place])) [[likely]]
          return 8 * in + place;
      }
      if (bucket.went_on == 0) [[likely]]
        return nowhere;
      in = behind(in);
    }
    return nowhere;
  }
  /// Where it most likely is, without a look at any slot; `nowhere` if that is not known at once.
  At guess(std::uint64_t hash) const {
    return find(hash, [](std::uint32_t) { return true; });
  }
  /// What `find` and `guess` look at first.
  const Bucket& home(std::uint64_t hash) const { return buckets_[home_of(hash)]; }

  std::uint32_t number(At at) const { return buckets_[at / 8].numbers[at % 8]; }
  std::uint8_t& file(At at) const { return buckets_[at / 8].files[at % 8]; }
  bool is_kept(At at) const { return (buckets_[at / 8].kept >> at % 8 & 1) != 0; }
  void keep(At at) const { buckets_[at / 8].kept |= static_cast<std::uint8_t>(1U << at % 8); }
  void keep_nothing() const {
    for (std::uint32_t in = 0; in < count_; ++in) buckets_[in].kept = 0;
  }
  /// Calls `use(at)` for all slots. It may remove that one.
  template <class Use>
  void for_each(const Use& use) const {
    for (std::uint32_t in = 0; in < count_; ++in) {
      for (std::uint32_t left = buckets_[in].used(); left != 0; left &= left - 1) {
        use(8 * in + static_cast<std::uint32_t>(std::countr_zero(left)));
      }
    }
  }

  /// There are fewer slots than it was made for.
  At add(std::uint64_t hash, std::uint32_t number, std::uint8_t file, bool is_kept) const {
    for (std::uint32_t in = home_of(hash);; in = behind(in)) {
      Bucket& bucket = buckets_[in];
      if (const std::uint32_t empty = bucket.with(0); empty != 0) {
        const auto place = static_cast<std::uint32_t>(std::countr_zero(empty));
        bucket.tags[place] = static_cast<std::uint8_t>(tag_of(hash));
        bucket.files[place] = file;
        bucket.numbers[place] = static_cast<std::uint16_t>(number);
        if (is_kept) keep(8 * in + place);
        return 8 * in + place;
      }
      if (bucket.went_on != went_on_max) bucket.went_on += 1;
    }
  }
  /// The slot that is there, with this hash.
  void remove(At at, std::uint64_t hash) const {
    const std::uint32_t is_in = at / 8;
    for (std::uint32_t in = home_of(hash); in != is_in; in = behind(in)) {
      if (buckets_[in].went_on != went_on_max) buckets_[in].went_on -= 1;
    }
    buckets_[is_in].tags[at % 8] = 0;
    buckets_[is_in].kept &= static_cast<std::uint8_t>(~(1U << at % 8));
  }
  /// The slot that is there has another number.
  void renumber(At at, std::uint32_t to) const {
    buckets_[at / 8].numbers[at % 8] = static_cast<std::uint16_t>(to);
  }

 private:
  static constexpr std::uint8_t went_on_max = 255;

  // By other bits than its bucket.
  static std::uint32_t tag_of(std::uint64_t hash) {
    const auto bits = static_cast<std::uint32_t>(hash >> 24 & 0xFF);
    return bits + (bits == 0 ? 1 : 0);
  }
  std::uint32_t home_of(std::uint64_t hash) const {
    return static_cast<std::uint32_t>((hash & 0xFF'FFFF) * count_ >> 24);
  }
  std::uint32_t behind(std::uint32_t in) const { return in + 1 == count_ ? 0 : in + 1; }

  Bucket* buckets_;
  std::uint32_t count_;
};
static_assert(sizeof(SlotIndex::Bucket) == 32);

}  // namespace piracema::detail
