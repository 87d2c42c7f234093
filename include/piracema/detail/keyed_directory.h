#pragma once

#include <piracema/detail/fetch.h>
#include <piracema/detail/keyed_segment.h>
#include <piracema/detail/keyed_states.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace piracema::detail {

using namespace engine;

/// Where a key lies: the bits of its group, and those behind them.
template <class Key>
struct MixedHash {
  static std::uint64_t of(const Key& key, KeyGroups) { return mix(KeyHash<Key>::of(key)); }
};

/// The first bits of 64, as a number.
constexpr std::uint64_t first_bits(std::uint64_t of, std::uint32_t count) {
  return of >> 1 >> (63 - count);
}

/// The segments of one group: extendible hashing (Fagin et al. 1979) by the bits behind those of
/// the group, `rest`, so that it grows one segment at a time. A group without keys has no segment.
template <class Key, class V>
class KeyedDirectory {
 public:
  using Segment = KeyedSegment<Key, V>;
  using Owner = typename Segment::Owner;

  KeyedDirectory() = default;
  KeyedDirectory(KeyedDirectory&& other) noexcept { swap(other); }
  KeyedDirectory& operator=(KeyedDirectory&& other) noexcept {
    KeyedDirectory(std::move(other)).swap(*this);
    return *this;
  }
  ~KeyedDirectory() {
    for_each([](Segment& segment) { Owner(&segment).reset(); });
    if (depth_ != 0) delete[] places_;
  }

  bool empty() const { return segments_ == 0; }
  /// It is not empty.
  Segment& at(std::uint64_t rest) const { return **place(rest); }
  /// What `at` reads to find the segment. It is not empty.
  Segment* const* place(std::uint64_t rest) const { return &places_[first_bits(rest, depth_)]; }

  /// It was empty. `version` is that of the table, as below.
  void begin(std::uint64_t version) {
    only_ = new_segment(0, 0, slots_min, version).release();
    segments_ = 1;
  }

  /// Each segment once, in the order of the hashes. `use` divides none.
  template <class Use>
  void for_each(const Use& use) const {
    for_each_of(0, 0, use);
  }
  /// Those that may have a key whose first `bits` are those of `rest`.
  template <class Use>
  void for_each_of(std::uint64_t rest, std::uint32_t bits, const Use& use) const {
    if (empty()) return;
    const std::uint64_t prefix = first_bits(rest, bits);
    std::uint64_t next = bits == 0 ? 0 : prefix << (64 - bits);
    do {
      Segment& segment = at(next);
      next = segment.end();
      use(segment);
    } while (next != 0 && first_bits(next, bits) == prefix);
  }

  /// Divides a segment that no cut waits for; it is gone then. Hashes have the group in their first
  /// `group_bits`. False if the group cannot be divided any more: keys with hashes that somebody
  /// has sought out make a segment larger, and not the directory.
  bool split(Segment& segment, std::uint32_t group_bits, std::uint64_t version) {
    if (segment.depth() == HashRange::depth_max) return false;
    if (segment.depth() == depth_ && !double_places()) return false;
    segment.keep_nothing();
    const std::uint32_t depth = segment.depth() + 1;
    const auto goes_right = [&](std::uint64_t hash) {
      return (first_bits(hash << group_bits, depth) & 1) != 0;
    };
    std::uint32_t right = 0;
    segment.for_each([&](auto at) { right += goes_right(segment.hash_at(at)) ? 1 : 0; });
    // One that gets all is to be divided again, and not to grow for it.
    const auto room_for = [&](std::uint32_t count) {
      return count == segment.count() ? segment.room() : std::max(slots_min, count + count / 16);
    };
    Owner halves[] = {
        new_segment(depth, 2 * segment.prefix(), room_for(segment.count() - right), version),
        new_segment(depth, 2 * segment.prefix() + 1, room_for(right), version)};
    segment.for_each(
        [&](auto at) { halves[goes_right(segment.hash_at(at)) ? 1 : 0]->take(segment, at); });
    for (auto& gone : segment.erased) {
      halves[goes_right(gone.hash) ? 1 : 0]->erased.push_back(std::move(gone));
    }
    for (Owner& half : halves) put(std::move(half));
    segments_ += 1;
    Owner(&segment).reset();
    return true;
  }
  /// It has room for so many then, and is another one, which is returned.
  Segment& grow(Segment& segment, std::uint32_t room) {
    Segment& larger = put(segment.larger(room));
    Owner(&segment).reset();
    return larger;
  }

 private:
  static constexpr std::uint32_t slots_min = 4;

  // Nothing of it was told to a cut that begins later, and nothing is kept for one before.
  static Owner new_segment(std::uint32_t depth, std::uint32_t prefix, std::uint32_t room,
                           std::uint64_t version) {
    Owner segment = Segment::make(depth, prefix, room);
    segment->written = version;
    segment->told = version;
    return segment;
  }

  Segment& put(Owner segment) {
    const std::size_t each = std::size_t{1} << (depth_ - segment->depth());
    std::fill_n(&places_[segment->prefix() * each], each, segment.get());
    return *segment.release();
  }
  bool double_places() {
    const std::size_t count = std::size_t{2} << depth_;
    if (count > 64 * (std::size_t{segments_} + 1)) return false;
    auto* const places = new Segment*[count];
    for (std::size_t i = 0; i < count; ++i) places[i] = places_[i / 2];
    if (depth_ != 0) delete[] places_;
    places_ = places;
    depth_ += 1;
    return true;
  }

  void swap(KeyedDirectory& other) noexcept {
    std::swap(only_, other.only_);
    std::swap(places_, other.places_);
    std::swap(depth_, other.depth_);
    std::swap(segments_, other.segments_);
    if (depth_ == 0) places_ = &only_;
    if (other.depth_ == 0) other.places_ = &other.only_;
  }

  /// The segment of a group that has one: beside the way to it, so that it is found without
  /// another wait for memory.
  Segment* only_ = nullptr;
  /// 2^depth_, of which several may be one segment's.
  Segment** places_ = &only_;
  std::uint32_t depth_ = 0;
  std::uint32_t segments_ = 0;
};

/// A walk through all segments of a table, one at a time; between two steps segments may be
/// divided.
template <class Key, class V>
class SegmentWalk {
 public:
  using Directory = KeyedDirectory<Key, V>;
  using Segment = KeyedSegment<Key, V>;

  void begin() { group_ = rest_ = 0; }
  /// Of the table: the directory that has the next segment; nullptr if there is none.
  Directory* group(std::vector<Directory>& table) {
    while (group_ < table.size() && table[group_].empty()) group_ += 1;
    return group_ < table.size() ? &table[group_] : nullptr;
  }
  /// The next segment, which is of that directory.
  Segment& at(const Directory& group) const { return group.at(rest_); }
  /// The same, and the walk goes on behind it.
  Segment& step(const Directory& group) {
    Segment& segment = at(group);
    rest_ = segment.end();
    if (rest_ == 0) group_ += 1;
    return segment;
  }
  /// What the next steps through that directory look at is on its way to the processor's caches.
  void fetch_next(const Directory& group) const {
    if (rest_ == 0) return;
    const Segment& next = group.at(rest_);
    next.fetch_index();
    if (const std::uint64_t behind = next.end(); behind != 0)
      Segment::fetch_head(&group.at(behind));
  }
  bool is_over(const std::vector<Directory>& table) const { return group_ == table.size(); }

 private:
  std::size_t group_ = 0;
  std::uint64_t rest_ = 0;
};

}  // namespace piracema::detail
