#pragma once

#include <piracema/codec.h>
#include <piracema/detail/kept_runs.h>
#include <piracema/detail/keyed_codec.h>
#include <piracema/detail/keyed_states.h>

#include <algorithm>
#include <bit>
#include <concepts>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace piracema::detail {

using namespace engine;

[[noreturn]] inline void foreign_key(std::uint32_t group, GroupRange owned) {
  throw std::logic_error("an item came whose key is of group " + std::to_string(group) +
                         ", and this replica has the groups from " + std::to_string(owned.first) +
                         " to " + std::to_string(owned.end) +
                         ": who sends it names its receiver, and ought not to");
}

/// The states of keys. For each group that the replica owns a directory of segments: extendible
/// hashing (Fagin et al. 1979) by the bits behind those of the group, so that a table grows one
/// segment at a time, and a segment, which is a hash table of its own with open addresses, is what
/// is saved and loaded. A group without keys has none.
///
/// A cut raises the version. Until `save_next` comes to a segment, what is written in it is kept as
/// it was at the cut, one key at a time: a write costs its own key, not its segment. What is kept
/// is encoded, not copied: so it shares nothing with the live value, and a V need not be copyable.
template <class Key, class V>
class KeyedTable : public KeyedStates {
 public:
  KeyedTable() = default;
  KeyedTable(const KeyedTable&) = delete;
  KeyedTable& operator=(const KeyedTable&) = delete;

  void own(KeyGroups groups, GroupRange range) override {
    groups_ = groups;
    owned_ = range;
    table_.resize(range.count());
  }

  /// The state of the key with this mixed hash; `V{}` if it had none. Until the next call.
  template <class K>
  V& edit(const K& key, std::uint64_t mixed) {
    Segment* segment = writable(mixed);
    while (true) {
      Slot& slot = segment->slot_of(key, mixed);
      if (!slot.empty()) {
        if (segment->keeps == version_) [[unlikely]]
          keep(*segment, slot);
        return slot.value;
      }
      if (segment->has_room()) {
        // Of what was not there at the cut there is nothing to keep.
        slot.fill(hash_of(mixed) | (segment->keeps == version_ ? kept : 0), Key(key), V{});
        segment->count += 1;
        size_ += 1;
        return slot.value;
      }
      segment = make_room(mixed);
    }
  }

  template <class K>
  const V* find(const K& key, std::uint64_t mixed) const {
    const Group& group = table_[number_of(mixed)];
    if (group.directory.empty()) return nullptr;
    Slot& slot = segment_at(group, rest_of(mixed)).slot_of(key, mixed);
    return slot.empty() ? nullptr : &slot.value;
  }

  template <class K>
  void erase(const K& key, std::uint64_t mixed) {
    if (find(key, mixed) == nullptr) return;
    Segment& segment = *writable(mixed);
    Slot& slot = segment.slot_of(key, mixed);
    if (segment.keeps == version_) keep(segment, slot);
    segment.erase(slot);
    size_ -= 1;
  }

  /// Calls `use(key, value)` for every key, in the order of their hashes: whatever order they came
  /// in, and however they are shared out. `use` may change values.
  template <class Use>
  void for_each(const Use& use) {
    std::vector<Slot*> slots;
    for (Group& group : table_) {
      if (group.directory.empty()) continue;
      std::uint64_t at = 0;
      do {
        save(group, segment_at(group, at));  // All of it may be changed.
        if (segment_at(group, at).written != version_) before_write(group, segment_at(group, at));
        Segment& segment = segment_at(group, at);
        slots.clear();
        for (Slot& slot : segment.all()) {
          if (!slot.empty()) slots.push_back(&slot);
        }
        std::sort(slots.begin(), slots.end(), [](const Slot* a, const Slot* b) {
          return a->hash() != b->hash() ? a->hash() < b->hash() : comes_before(a->key, b->key);
        });
        for (Slot* slot : slots) use(std::as_const(slot->key), slot->value);
        at = segment.end();
      } while (at != 0);
    }
  }

  std::uint64_t size() const override { return size_; }

  void begin_cut(KeyedCut& cut) override {
    cut_ = &cut;
    kept_runs_.clear();
    version_ += 1;
    next_group_ = 0;
    next_ = 0;
  }
  void end_cut() override {
    // Nothing more is kept for what was not saved.
    if (cut_ != nullptr && next_group_ != table_.size()) version_ += 1;
    kept_runs_.clear();
    cut_ = nullptr;
  }

  bool save_next() override {
    if (cut_ == nullptr) return false;
    while (next_group_ < table_.size() && table_[next_group_].directory.empty()) next_group_ += 1;
    if (next_group_ == table_.size()) return false;
    Group& group = table_[next_group_];
    Segment& segment = segment_at(group, next_);
    next_ = segment.end();
    if (next_ == 0) next_group_ += 1;
    save(group, segment);
    return true;
  }

  void load(const HashRange& range, Bytes bytes, const StatePlace& place) override {
    KeyedReader in(bytes);
    const std::uint64_t count = in.number();
    Segment* const meant = segment_for(range);
    const std::uint64_t splits = splits_;
    for (std::uint64_t i = 0; i < count; ++i) {
      Key key = in.get<Key>();
      const std::uint64_t mixed = mix(KeyHash<Key>::of(key));
      if (!is_in(range, mixed)) throw DecodeError("it has a key of another range of hashes");
      const std::uint64_t before = size_;
      V& value = edit(key, mixed);
      if (size_ == before) throw DecodeError("it has a key twice");
      value = in.get<V>();
    }
    if (in.left() != 0) left_over(in.left(), bytes.size());
    if (meant == nullptr || splits != splits_) return;  // It is saved anew next time.
    meant->place = place;
    meant->written = 0;
  }

 private:
  /// What a segment takes at most, but for values so large that four do not fit.
  static constexpr std::size_t segment_bytes_max = std::size_t{16} << 10;
  static constexpr std::uint32_t slots_min = 4;
  /// One that was longer when it was saved is split: its values have more than they show.
  static constexpr std::uint64_t saved_bytes_max = std::uint64_t{64} << 10;

  /// Marks of a slot, in place of the last two bits of its hash: it holds a key; and that key needs
  /// not be kept any more for the cut that its segment keeps keys for.
  static constexpr std::uint64_t held = 1, kept = 2, marks = held | kept;
  static std::uint64_t hash_of(std::uint64_t mixed) { return (mixed & ~marks) | held; }

  struct Slot {
    /// 0: it is empty.
    std::uint64_t marked = 0;
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
    bool empty() const { return marked == 0; }
    std::uint64_t hash() const { return marked & ~kept; }
    void fill(std::uint64_t as_marked, Key&& with_key, V&& with_value) {
      std::construct_at(std::addressof(key), std::move(with_key));
      try {
        std::construct_at(std::addressof(value), std::move(with_value));
      } catch (...) {
        std::destroy_at(std::addressof(key));
        throw;
      }
      marked = as_marked;
    }
    void clear() {
      if (std::exchange(marked, 0) == 0) return;
      std::destroy_at(std::addressof(key));
      std::destroy_at(std::addressof(value));
    }
    void take(Slot& other) {
      fill(other.marked, std::move(other.key), std::move(other.value));
      other.clear();
    }
  };

  struct Segment {
    /// Versions: of the last write, and of the cut that keys are kept for as they were; another one
    /// has been given up, and the marks and `old` with it.
    std::uint64_t written = 0, keeps = 0;
    std::unique_ptr<Slot[]> slots;
    std::uint32_t count = 0, mask = 0, depth = 0, prefix = 0;
    /// Keys and values as they were at the cut, of those that have changed since.
    const KeptRuns::Run* old = nullptr;
    /// The cut that it was given to, or that it was not there for.
    std::uint64_t told = 0;
    /// Where it lies as it is.
    StatePlace place;

    std::span<Slot> all() { return {slots.get(), std::size_t{mask} + 1}; }
    bool has_room() const { return count < mask - mask / 8; }
    /// Where the next one begins, as the bits behind those of the group; 0: this was the last.
    std::uint64_t end() const {
      return depth == 0 ? 0 : (std::uint64_t{prefix} + 1) << (64 - depth);
    }
    std::uint32_t home_of(std::uint64_t hash) const {
      return static_cast<std::uint32_t>(hash >> 2) & mask;
    }
    /// That of the key, or the empty one where it would be.
    template <class K>
    Slot& slot_of(const K& key, std::uint64_t mixed) {
      const std::uint64_t hash = hash_of(mixed);
      std::uint32_t at = home_of(hash);
      while (!slots[at].empty() && !(slots[at].hash() == hash && slots[at].key == key)) {
        at = (at + 1) & mask;
      }
      return slots[at];
    }
    void add(Slot& from) {
      std::uint32_t at = home_of(from.marked);
      while (!slots[at].empty()) at = (at + 1) & mask;
      slots[at].take(from);
      count += 1;
    }
    /// Those behind it that would no longer be found move up.
    void erase(Slot& slot) {
      auto hole = static_cast<std::uint32_t>(&slot - slots.get());
      slots[hole].clear();
      count -= 1;
      for (std::uint32_t at = (hole + 1) & mask; !slots[at].empty(); at = (at + 1) & mask) {
        const std::uint32_t home = home_of(slots[at].marked);
        if (((at - home) & mask) < ((at - hole) & mask)) continue;
        slots[hole].take(slots[at]);
        hole = at;
      }
    }
    void keep_nothing() {
      if (std::exchange(keeps, 0) == 0) return;
      for (Slot& slot : all()) slot.marked &= ~kept;
      old = nullptr;
    }
  };

  struct Group {
    /// 2^depth places, of which several may be one segment's.
    std::vector<std::shared_ptr<Segment>> directory;
    std::uint32_t depth = 0;
    std::uint32_t segments = 0;
  };

  static bool comes_before(const Key& a, const Key& b) {
    if constexpr (requires {
                    { a < b } -> std::convertible_to<bool>;
                  }) {
      return a < b;
    } else {
      Buffer first, second;
      Codec<Key>::encode(a, first);
      Codec<Key>::encode(b, second);
      return as_text(first) < as_text(second);
    }
  }

  std::size_t number_of(std::uint64_t mixed) const {
    const std::uint32_t group = groups_.group_of(mixed);
    const std::size_t number = group - owned_.first;
    if (number >= table_.size()) [[unlikely]]
      foreign_key(group, owned_);
    return number;
  }
  std::uint64_t rest_of(std::uint64_t mixed) const { return mixed << groups_.bits(); }
  bool is_in(const HashRange& range, std::uint64_t mixed) const {
    return groups_.group_of(mixed) == range.group &&
           first_bits(rest_of(mixed), range.depth) == range.prefix;
  }
  static std::uint64_t first_bits(std::uint64_t rest, std::uint32_t depth) {
    return rest >> 1 >> (63 - depth);
  }
  static Segment& segment_at(const Group& group, std::uint64_t rest) {
    return *group.directory[first_bits(rest, group.depth)];
  }

  Segment* writable(std::uint64_t mixed) {
    Group& group = table_[number_of(mixed)];
    if (group.directory.empty()) [[unlikely]] {
      group.directory.push_back(new_segment(0, 0, slots_min));
      group.segments = 1;
    }
    Segment* segment = &segment_at(group, rest_of(mixed));
    if (segment->written != version_) [[unlikely]] {
      before_write(group, *segment);
      segment = &segment_at(group, rest_of(mixed));
    }
    return segment;
  }

  // The segment may be another one after it.
  void before_write(Group& group, Segment& segment) {
    const bool waits = is_awaited(segment) && !name(group, segment);
    const std::uint64_t bytes = std::exchange(segment.place, {}).bytes;
    segment.written = version_;
    if (waits) {
      segment.keep_nothing();
      segment.keeps = version_;
    } else {
      split_if_long(group, segment, bytes);
    }
  }
  // The cut wants it, and has not got it.
  bool is_awaited(const Segment& segment) const {
    return cut_ != nullptr && segment.told != version_;
  }
  void split_if_long(Group& group, Segment& segment, std::uint64_t saved_bytes) {
    if (saved_bytes > saved_bytes_max && segment.count > 1) split(group, segment);
  }

  // The key is about to be written or erased, in a segment that keeps keys.
  void keep(Segment& segment, Slot& slot) {
    if ((slot.marked & kept) != 0) return;
    if (!one_) one_ = std::make_unique<OneKey>();
    one_->bytes.clear();
    one_->writer.put(slot.key);
    one_->writer.put(slot.value);
    segment.old = kept_runs_.add(one_->bytes, segment.old);
    slot.marked |= kept;
  }

  HashRange range_of(const Group& group, const Segment& segment) const {
    const auto number = static_cast<std::uint32_t>(&group - table_.data());
    return {owned_.first + number, segment.depth, segment.prefix};
  }
  // Gives a segment that has not changed since it was saved, or is empty, to the cut; false if it
  // has to be saved.
  bool name(const Group& group, Segment& segment) {
    const bool was_empty = segment.count == 0 && segment.keeps != version_;
    const bool named = was_empty || (segment.place.snapshot != 0 &&
                                     cut_->keep(range_of(group, segment), segment.place));
    if (named) segment.told = version_;
    return named;
  }

  // Gives the segment to the cut, as it was then. It may be another one after it.
  void save(Group& group, Segment& segment) {
    if (!is_awaited(segment) || name(group, segment)) return;
    const bool changed = segment.keeps == version_;
    if (!changed) segment.keep_nothing();
    Buffer& out = cut_->bytes();
    const std::size_t from = out.size();
    KeyedWriter writer(out);
    std::uint64_t count = 0;
    writer.number(0);
    for (const Slot& slot : segment.all()) {
      if (slot.empty() || (slot.marked & kept) != 0) continue;
      writer.put(slot.key);
      writer.put(slot.value);
      count += 1;
    }
    for (const KeptRuns::Run* run = segment.old; run != nullptr; run = run->before) {
      out.append(run->bytes().data(), run->size);
      count += 1;
    }
    writer.number_at(from, count);
    segment.told = version_;
    if (count == 0) {  // All of it came after the cut.
      out.resize(from);
      return segment.keep_nothing();
    }
    const StatePlace place = cut_->saved(range_of(group, segment), from);
    segment.keep_nothing();
    if (changed) {
      split_if_long(group, segment, place.bytes);
    } else {
      segment.place = place;
    }
  }

  std::shared_ptr<Segment> new_segment(std::uint32_t depth, std::uint32_t prefix,
                                       std::uint32_t slots) {
    auto segment = std::make_shared<Segment>();
    segment->depth = depth;
    segment->prefix = prefix;
    segment->written = version_;
    segment->told = version_;
    segment->mask = slots - 1;
    segment->slots = std::make_unique<Slot[]>(slots);
    return segment;
  }
  static std::uint32_t slots_for(std::size_t count) {
    return std::max(slots_min, std::bit_ceil(static_cast<std::uint32_t>(count + count / 4 + 1)));
  }

  // For a key of a segment that is full.
  Segment* make_room(std::uint64_t mixed) {
    Group& group = table_[number_of(mixed)];
    Segment& full = segment_at(group, rest_of(mixed));
    const std::size_t slots = 2 * (std::size_t{full.mask} + 1);
    if (slots * sizeof(Slot) <= segment_bytes_max || full.count < 2) {
      grow(full, static_cast<std::uint32_t>(slots));
      return &full;
    }
    save(group, full);
    Segment& saved = segment_at(group, rest_of(mixed));
    if (saved.has_room()) return &saved;  // It was so long that it is divided already.
    if (!split(group, saved)) grow(saved, 2 * (saved.mask + 1));
    return &segment_at(group, rest_of(mixed));
  }

  void grow(Segment& segment, std::uint32_t slots) {
    const std::shared_ptr<Segment> larger = new_segment(segment.depth, segment.prefix, slots);
    for (Slot& slot : segment.all()) {
      if (!slot.empty()) larger->add(slot);
    }
    std::swap(segment.slots, larger->slots);
    segment.mask = larger->mask;
  }

  // What no cut waits for. False if the group cannot be divided any more: keys with hashes that
  // somebody has sought out make a segment larger, and not the directory.
  bool split(Group& group, Segment& segment) {
    if (segment.depth == HashRange::depth_max) return false;
    if (segment.depth == group.depth) {
      const std::size_t places = 2 * group.directory.size();
      if (places > 64 * (std::size_t{group.segments} + 1)) return false;
      std::vector<std::shared_ptr<Segment>> directory(places);
      for (std::size_t i = 0; i < places; ++i) directory[i] = group.directory[i / 2];
      group.directory = std::move(directory);
      group.depth += 1;
    }
    segment.keep_nothing();
    const std::uint32_t depth = segment.depth + 1;
    const auto goes_right = [&](const Slot& slot) {
      return (first_bits(rest_of(slot.marked), depth) & 1) != 0;
    };
    const auto all = segment.all();
    const auto right = static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [&](const Slot& s) { return !s.empty() && goes_right(s); }));
    const std::shared_ptr<Segment> halves[] = {
        new_segment(depth, 2 * segment.prefix, slots_for(segment.count - right)),
        new_segment(depth, 2 * segment.prefix + 1, slots_for(right))};
    for (Slot& slot : all) {
      if (!slot.empty()) halves[goes_right(slot) ? 1 : 0]->add(slot);
    }
    const std::size_t each = std::size_t{1} << (group.depth - depth);
    const std::size_t first = std::size_t{2} * segment.prefix * each;
    for (std::size_t i = 0; i < 2 * each; ++i) group.directory[first + i] = halves[i / each];
    group.segments += 1;
    splits_ += 1;
    return true;
  }

  // The empty segment of just that range; null if the group cannot be divided so.
  Segment* segment_for(const HashRange& range) {
    const std::uint64_t rest =
        range.depth == 0 ? 0 : std::uint64_t{range.prefix} << (64 - range.depth);
    const std::uint64_t mixed = (std::uint64_t{range.group} << (64 - groups_.bits())) |
                                (groups_.bits() == 0 ? rest : rest >> groups_.bits());
    while (true) {
      Segment* segment = writable(mixed);
      if (segment->depth == range.depth) return segment->count == 0 ? segment : nullptr;
      if (segment->depth > range.depth) return nullptr;
      if (!split(table_[number_of(mixed)], *segment)) return nullptr;
    }
  }

  KeyGroups groups_;
  GroupRange owned_;
  std::vector<Group> table_;
  std::uint64_t size_ = 0;
  std::uint64_t splits_ = 0;

  std::uint64_t version_ = 1;
  KeyedCut* cut_ = nullptr;
  struct OneKey {
    Buffer bytes;
    KeyedWriter writer{bytes};
  };
  std::unique_ptr<OneKey> one_;
  /// Of the cut that is under way.
  KeptRuns kept_runs_;
  /// Where `save_next` goes on.
  std::size_t next_group_ = 0;
  std::uint64_t next_ = 0;
};

}  // namespace piracema::detail
