#pragma once

#include <piracema/codec.h>
#include <piracema/detail/entry_counts.h>
#include <piracema/detail/fetch.h>
#include <piracema/detail/former_state.h>
#include <piracema/detail/hashes_ahead.h>
#include <piracema/detail/keyed_codec.h>
#include <piracema/detail/keyed_directory.h>
#include <piracema/detail/keyed_segment.h>
#include <piracema/detail/keyed_states.h>
#include <piracema/detail/table_cut.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace piracema::detail {

using namespace engine;

/// The states of keys: for each group that the replica owns a directory of segments. A cut of it
/// (`TableCut`) costs what is written until it has been saved, key by key.
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
    const Place place = place_of(key, mixed);
    counts_.leave(place.segment->file(place.at));
    return place.segment->slot(place.at).value;
  }

  template <class K>
  const V* find(const K& key, std::uint64_t mixed) const {
    const Directory& group = table_[number_of(mixed)];
    if (group.empty()) return nullptr;
    const Segment& segment = group.at(rest_of(mixed));
    const At at = segment.find(key, mixed);
    return at == Segment::nowhere ? nullptr : &segment.slot(at).value;
  }

  /// What its keys and states take, without what lies elsewhere.
  std::uint64_t bytes() const { return size_ * sizeof(Slot); }
  /// What `edit` and `find` of keys with these mixed hashes (`HashesAhead::most`) look at is on its
  /// way to the processor's caches, for all of them at once: one by one, each would wait for memory
  /// four times. Changes nothing. Keys that it does not own are passed over. (Group prefetching:
  /// Chen, Ailamaki, Gibbons and Mowry 2004.)
  void fetch(std::span<const std::uint64_t> mixed) const {
    struct Sought {
      std::uint64_t mixed;
      const Directory* group;
      const Segment* segment;
    };
    std::array<Sought, HashesAhead::most> all;
    std::size_t count = 0;
    for (const std::uint64_t one : mixed.first(std::min(mixed.size(), all.size()))) {
      const std::size_t number = groups_.group_of(one) - owned_.first;
      if (number >= owned_.count() || table_[number].empty()) continue;
      all[count++] = {one, &table_[number], nullptr};
      detail::fetch(table_[number].place(rest_of(one)));
    }
    // Each step looks at what the one before has asked for.
    const std::span<Sought> sought(all.data(), count);
    for (Sought& one : sought) {
      one.segment = &one.group->at(rest_of(one.mixed));
      Segment::fetch_head(one.segment);
    }
    for (const Sought& one : sought) one.segment->fetch_home(one.mixed);
    for (const Sought& one : sought) one.segment->fetch_slot(one.mixed);
  }

  template <class K>
  void erase(const K& key, std::uint64_t mixed) {
    if (find(key, mixed) == nullptr) return;
    Segment& segment = *writable(mixed);
    const At at = segment.find(key, mixed);
    if (cut_.keeps(segment)) cut_.keep(segment, at, groups_);
    const bool is_said = segment.file(at) != saved_in::none_ever;
    counts_.leave(segment.file(at));
    Key gone = segment.erase(at);
    if (is_said) segment.erased.push_back({std::move(gone), mixed, saved_in::none});
    size_ -= 1;
  }

  /// Calls `use(key, value)` for every key, in the order of their hashes: whatever order they came
  /// in, and however they are shared out. `use` may change values.
  template <class Use>
  void for_each(const Use& use) {
    std::vector<std::pair<std::uint64_t, Slot*>> slots;
    SegmentWalk<Key, V> walk;
    while (Directory* const group = walk.group(table_)) {
      save(*group, walk.at(*group));  // All of it may be changed.
      if (Segment& rest = walk.at(*group); rest.written != cut_.version())
        before_write(*group, rest);
      Segment& segment = walk.step(*group);
      slots.clear();
      segment.for_each([&](At at) {
        slots.emplace_back(segment.hash_at(at), &segment.slot(at));
        counts_.leave(segment.file(at));
      });
      std::sort(slots.begin(), slots.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : comes_before(a.second->key, b.second->key);
      });
      for (const auto& [hash, slot] : slots) use(std::as_const(slot->key), slot->value);
    }
  }

  /// A look at every key, bit by bit while they change: `look_at_next` calls
  /// `use(key, value, mixed)` for the next ones, in no order but behind those of smaller hashes,
  /// and is false if there are none left. One that comes meanwhile may be missed.
  void begin_look() { looked_.begin(); }
  template <class Use>
  bool look_at_next(const Use& use) {
    Directory* const group = looked_.group(table_);
    if (group == nullptr) return false;
    looked_.step(*group).look_at(use);
    return true;
  }

  /// Of what looks see, the share that is over and makes it worth while to look at more.
  static constexpr std::uint32_t sweep_fourths = 1;
  /// Looks at some keys, others each time until it has seen all, and is false then: it begins
  /// again. Those whose value is `over` are erased.
  template <class Over>
  bool sweep(const Over& over) {
    std::vector<std::pair<Key, std::uint64_t>> gone;
    const bool is_more = look_at_some([&](const Key& key, const V& value, std::uint64_t hash) {
      if (over(value)) gone.emplace_back(Key(key), hash);
    });
    for (const auto& [key, hash] : gone) erase(key, hash);
    return is_more;
  }
  /// Calls `use(key, value, mixed)` for some keys, in the same way.
  template <class Use>
  bool look_at_some(const Use& use) {
    Directory* const group = sweep_.group(table_);
    if (group != nullptr) sweep_.step(*group).look_at(use);
    if (sweep_.group(table_) != nullptr) return true;
    sweep_.begin();
    return false;
  }
  /// Calls `use(key, value, mixed)` for all keys of the group of `mixed` whose `bits` behind those
  /// of the group are the same, and for some others of the group. In no order.
  template <class Use>
  void look_near(std::uint64_t mixed, std::uint32_t bits, const Use& use) const {
    table_[number_of(mixed)].for_each_of(rest_of(mixed), bits,
                                         [&](const Segment& segment) { segment.look_at(use); });
  }

  KeyGroups groups() const { return groups_; }
  GroupRange owned() const { return owned_; }
  std::uint64_t size() const override { return size_; }
  std::uint64_t in_file(std::uint8_t number) const override { return counts_.of(number); }

  void forget(const std::array<bool, 256>& numbers) override {
    const auto forgotten = [&](std::uint8_t& file) {
      if (numbers[file]) counts_.leave(file);
    };
    for (const Directory& group : table_) {
      group.for_each([&](Segment& segment) {
        segment.for_each([&](At at) { forgotten(segment.file(at)); });
        for (auto& gone : segment.erased) forgotten(gone.file);
        segment.changed = true;
      });
    }
  }

  bool changed() const override { return changed_; }
  void settle() override {
    cut_.raise();
    changed_ = false;
  }

  std::unique_ptr<KeyedStates> take_out() override {
    end_cut();
    auto all = std::make_unique<KeyedTable>();
    all->own(groups_, owned_);
    all->take_over(*this);
    return all;
  }
  void take_over(KeyedStates& other) override {
    auto& from = dynamic_cast<KeyedTable&>(other);
    from.end_cut();
    for (std::size_t i = 0; i < from.table_.size(); ++i) {
      const std::uint32_t group = from.owned_.first + static_cast<std::uint32_t>(i);
      if (owned_.has(group)) {
        table_[group - owned_.first] = std::exchange(from.table_[i], Directory{});
      } else {
        from.count_no_more(from.table_[i]);
      }
    }
    size_ = std::exchange(from.size_, 0);
    counts_.take_over(from.counts_);
    cut_.take_over(from.cut_);
    changed_ = true;
  }

  bool can_join() const override { return true; }
  void strike(std::uint32_t group, const std::array<bool, 256>& files) override {
    const auto is_struck = [&](std::uint8_t& file) {
      if (!saved_in::is_file(file) || !files[file]) return false;
      counts_.leave(file);
      return true;
    };
    table_[group - owned_.first].for_each([&](Segment& segment) {
      segment.for_each([&](At at) {
        if (!is_struck(segment.file(at))) return;
        segment.erase(at);
        size_ -= 1;
      });
      std::erase_if(segment.erased, [&](auto& gone) { return is_struck(gone.file); });
    });
  }
  void join(KeyedStates& other, const FileNumbers& numbers) override {
    auto& from = dynamic_cast<KeyedTable&>(other);
    from.end_cut();
    for (std::size_t i = 0; i < from.table_.size(); ++i) {
      Directory& group = from.table_[i];
      if (group.empty()) continue;
      group.for_each([&](Segment& segment) {
        const auto renumber = [&](std::uint8_t& file) {
          if (saved_in::is_file(file)) counts_.enter(file, numbers[file]);
          if (file == saved_in::none) segment.changed = true;
        };
        segment.for_each([&](At at) { renumber(segment.file(at)); });
        for (auto& gone : segment.erased) renumber(gone.file);
      });
      table_[from.owned_.first + i - owned_.first] = std::exchange(group, Directory{});
    }
    size_ += std::exchange(from.size_, 0);
    from.counts_.clear();
    cut_.join(from.cut_);
    changed_ = true;
  }

  void begin_cut(KeyedCut& cut) override {
    cut_.begin(cut);
    changed_ = false;
    saved_.begin();
  }
  void end_cut() override { cut_.end(saved_.is_over(table_)); }

  bool save_next() override {
    if (!cut_.is_under_way()) return false;
    Directory* const group = saved_.group(table_);
    if (group == nullptr) return false;
    Segment& segment = saved_.step(*group);
    saved_.fetch_next(*group);
    save(*group, segment);
    return true;
  }

  void reads(std::uint32_t ago) override { ago_ = ago; }

  void load(const HashRange& range, Bytes bytes) override {
    KeyedReader in(bytes);
    const std::uint64_t count = in.number();
    for (std::uint64_t i = 0; i < count; ++i) {
      Key key = in.get<Key>();
      const std::uint64_t mixed = MixedHash<Key>::of(key, groups_);
      if (!is_in(range, mixed)) throw DecodeError("it has a key of another range of hashes");
      const std::uint64_t before = size_;
      V& value = edit(key, mixed);
      if (size_ == before) throw DecodeError("it has a key twice");
      value = read_state<V>(in, ago_);
    }
    if (in.left() != 0) left_over(in.left(), bytes.size());
  }

  std::uint64_t replay(std::uint32_t group, Bytes bytes, std::uint8_t number) override {
    KeyedReader in(bytes);
    std::uint64_t entries = 0;
    for (; in.left() != 0; ++entries) {
      const auto what = in.get<std::uint8_t>();
      if (what > EntryMark::has_state) throw DecodeError("it has an entry that is none");
      Key key = in.get<Key>();
      const std::uint64_t mixed = MixedHash<Key>::of(key, groups_);
      if (groups_.group_of(mixed) != group) throw DecodeError("it has a key of another group");
      if (what == EntryMark::has_state) {
        const Place place = place_of(key, mixed);
        std::uint8_t& file = place.segment->file(place.at);
        if (file == number && saved_in::is_file(number)) throw DecodeError("it has a key twice");
        counts_.leave(file);
        place.segment->slot(place.at).value = read_state<V>(in, ago_);
        counts_.enter(file, number);
      } else {
        replay_erased(std::move(key), mixed, number);
      }
    }
    return entries;
  }

 private:
  /// One of which more was saved at once is split: its values have more than they show.
  static constexpr std::uint64_t saved_bytes_max = std::uint64_t{64} << 10;

  using Directory = KeyedDirectory<Key, V>;
  using Segment = KeyedSegment<Key, V>;
  using Slot = typename Segment::Slot;

  using At = typename Segment::At;

  struct Place {
    Segment* segment;
    At at;
  };

  // Of the key; it is made if there is none. It is about to be written.
  template <class K>
  Place place_of(const K& key, std::uint64_t mixed) {
    const Directory& group = table_[number_of(mixed)];
    if (!group.empty()) [[likely]] {
      Segment& segment = group.at(rest_of(mixed));
      if (segment.written == cut_.version() && !cut_.keeps(segment)) [[likely]] {
        const At at = segment.find(key, mixed);
        if (at != Segment::nowhere) [[likely]]
          return {&segment, at};
      }
    }
    return make_place(key, mixed);
  }
  // The same, whatever has to be done for it. Not a part of the loops that call it: these are
  // faster by a third without it.
  template <class K>
  [[gnu::noinline]] Place make_place(const K& key, std::uint64_t mixed) {
    Segment* segment = writable(mixed);
    while (true) {
      const At at = segment->find(key, mixed);
      if (at != Segment::nowhere) {
        if (cut_.keeps(*segment)) cut_.keep(*segment, at, groups_);
        return {segment, at};
      }
      if (segment->has_room()) {
        size_ += 1;
        // Of what was not there at the cut there is nothing to keep.
        return {segment, segment->add(mixed, Key(key), cut_.keeps(*segment))};
      }
      segment = make_room(mixed);
    }
  }

  // Its keys are there as long as the table is: to destroy many takes long.
  void count_no_more(const Directory& group) {
    group.for_each([&](const Segment& segment) {
      size_ -= segment.count();
      segment.for_each([&](At at) { counts_.gone(segment.file(at)); });
      for (const auto& gone : segment.erased) counts_.gone(gone.file);
    });
  }

  void replay_erased(Key key, std::uint64_t mixed, std::uint8_t number) {
    Segment& segment = *writable(mixed);
    const At at = segment.find(key, mixed);
    if (at != Segment::nowhere) {
      counts_.leave(segment.file(at));
      segment.erase(at);
      size_ -= 1;
    }
    segment.erased.push_back({std::move(key), mixed, saved_in::none});
    counts_.enter(segment.erased.back().file, number);
  }

  std::size_t number_of(std::uint64_t mixed) const {
    const std::uint32_t group = groups_.group_of(mixed);
    const std::size_t number = group - owned_.first;
    if (number >= owned_.count()) [[unlikely]]
      foreign_key(group, owned_);
    return number;
  }
  std::uint64_t rest_of(std::uint64_t mixed) const { return mixed << groups_.bits(); }
  bool is_in(const HashRange& range, std::uint64_t mixed) const {
    return groups_.group_of(mixed) == range.group &&
           first_bits(rest_of(mixed), range.depth) == range.prefix;
  }
  std::uint32_t group_number(const Directory& group) const {
    return owned_.first + static_cast<std::uint32_t>(&group - table_.data());
  }

  Segment* writable(std::uint64_t mixed) {
    Directory& group = table_[number_of(mixed)];
    if (group.empty()) [[unlikely]] {
      group.begin(cut_.version());
      changed_ = true;
    }
    Segment* segment = &group.at(rest_of(mixed));
    if (segment->written != cut_.version()) [[unlikely]]
      before_write(group, *segment);
    return segment;
  }
  void before_write(Directory& group, Segment& segment) {
    changed_ = true;
    cut_.before_write(segment, group_number(group), counts_);
  }

  // It may be another segment after it.
  void save(Directory& group, Segment& segment) {
    const std::size_t bytes = cut_.save(segment, group_number(group), counts_);
    if (bytes > saved_bytes_max && segment.count() > 1) split(group, segment);
  }
  bool split(Directory& group, Segment& segment) {
    return group.split(segment, groups_.bits(), cut_.version());
  }

  // For a key of a segment that is full.
  Segment* make_room(std::uint64_t mixed) {
    Directory& group = table_[number_of(mixed)];
    Segment& full = group.at(rest_of(mixed));
    if (full.room() < Segment::room_max || full.count() < 2)
      return &group.grow(full, more_room(full));
    save(group, full);
    Segment& saved = group.at(rest_of(mixed));
    if (saved.has_room()) return &saved;  // It was so long that it is divided already.
    if (!split(group, saved)) return &group.grow(saved, more_room(saved));
    return &group.at(rest_of(mixed));
  }
  // A quarter more; it is only the index that has it for nothing.
  static std::uint32_t more_room(const Segment& full) {
    const std::uint32_t room = full.room() + std::max(full.room() / 4, 4U);
    return full.room() < Segment::room_max ? std::min(room, std::uint32_t{Segment::room_max})
                                           : room;
  }

  KeyGroups groups_;
  GroupRange owned_;
  std::vector<Directory> table_;
  std::uint64_t size_ = 0;
  EntryCounts counts_;
  /// As `reads` says.
  std::uint32_t ago_ = 0;

  /// As `changed` says.
  bool changed_ = true;
  TableCut<Key, V> cut_;
  /// What of the cut has been saved, and where `look_at_some` and `look_at_next` go on.
  SegmentWalk<Key, V> saved_, sweep_, looked_;
};

}  // namespace piracema::detail
