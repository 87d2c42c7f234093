#pragma once

#include <piracema/codec.h>
#include <piracema/detail/former_state.h>
#include <piracema/detail/kept_runs.h>
#include <piracema/detail/keyed_codec.h>
#include <piracema/detail/keyed_segment.h>
#include <piracema/detail/keyed_states.h>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace piracema::detail {

using namespace engine;

/// Where a key lies: the bits of its group, and those behind them.
template <class Key>
struct MixedHash {
  static std::uint64_t of(const Key& key, KeyGroups) { return mix(KeyHash<Key>::of(key)); }
};

/// The states of keys. For each group that the replica owns a directory of segments: extendible
/// hashing (Fagin et al. 1979) by the bits behind those of the group, so that a table grows one
/// segment at a time. A group without keys has none.
///
/// A cut raises the version. Until `save_next` comes to a segment, what is written in it is kept as
/// it was at the cut, one key at a time: a write costs its own key, not its segment. What is kept
/// is encoded, not copied: so it shares nothing with the live value, and a V need not be copyable.
///
/// A cut saves the keys that have changed since they were saved, and those whose file is not to be
/// read any more (`CutPlan`). A key that is gone is remembered as long as an older file is read.
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
    std::uint8_t& file = place.segment->beside[place.at].file;
    if (saved_in::is_file(file)) leave(file);
    return place.segment->slots[place.at].value;
  }

  template <class K>
  const V* find(const K& key, std::uint64_t mixed) const {
    const Group& group = table_[number_of(mixed)];
    if (group.directory.empty()) return nullptr;
    const Segment& segment = segment_at(group, rest_of(mixed));
    const Slot& slot = segment.slots[segment.find(key, mixed)];
    return slot.empty() ? nullptr : &slot.value;
  }

  template <class K>
  void erase(const K& key, std::uint64_t mixed) {
    if (find(key, mixed) == nullptr) return;
    Segment& segment = *writable(mixed);
    const std::uint32_t at = segment.find(key, mixed);
    if (segment.keeps == version_) keep(segment, at);
    std::uint8_t& file = segment.beside[at].file;
    if (file != saved_in::none_ever) {
      segment.erased.push_back(
          {std::move(segment.slots[at].key), Segment::hash_of(mixed), saved_in::none});
    }
    if (saved_in::is_file(file)) leave(file);
    segment.erase(at);
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
        for (std::uint32_t i = 0; i < segment.room(); ++i) {
          if (segment.slots[i].empty()) continue;
          slots.push_back(&segment.slots[i]);
          if (saved_in::is_file(segment.beside[i].file)) leave(segment.beside[i].file);
        }
        std::sort(slots.begin(), slots.end(), [](const Slot* a, const Slot* b) {
          return a->hash() != b->hash() ? a->hash() < b->hash() : comes_before(a->key, b->key);
        });
        for (Slot* slot : slots) use(std::as_const(slot->key), slot->value);
        at = segment.end();
      } while (at != 0);
    }
  }

  /// Looks at some keys, others each time until it has seen all and begins again: those whose value
  /// is `over` are erased.
  template <class Over>
  void sweep(const Over& over) {
    std::vector<std::pair<Key, std::uint64_t>> gone;
    look_at_some([&](const Key& key, const V& value, std::uint64_t hash) {
      if (over(value)) gone.emplace_back(Key(key), hash);
    });
    for (const auto& [key, hash] : gone) erase(key, hash);
  }
  /// Calls `use(key, value, mixed)` for some keys, in the same way.
  template <class Use>
  void look_at_some(const Use& use) {
    const auto has_keys = [this](std::size_t group) { return !table_[group].directory.empty(); };
    for (std::size_t looked = 0; looked < table_.size(); ++looked) {
      if (sweep_group_ < table_.size() && has_keys(sweep_group_)) break;
      sweep_group_ = sweep_group_ + 1 < table_.size() ? sweep_group_ + 1 : 0;
      sweep_ = 0;
    }
    if (sweep_group_ >= table_.size() || !has_keys(sweep_group_)) return;
    const Segment& segment = segment_at(table_[sweep_group_], sweep_);
    sweep_ = segment.end();
    if (sweep_ == 0) sweep_group_ += 1;
    look_at(segment, use);
  }
  /// Calls `use(key, value, mixed)` for all keys of the group of `mixed` whose `bits` behind those
  /// of the group are the same, and for some others of the group. In no order.
  template <class Use>
  void look_near(std::uint64_t mixed, std::uint32_t bits, const Use& use) const {
    const Group& group = table_[number_of(mixed)];
    if (group.directory.empty()) return;
    const std::uint64_t prefix = first_bits(rest_of(mixed), bits);
    std::uint64_t at = bits == 0 ? 0 : prefix << (64 - bits);
    do {
      const Segment& segment = segment_at(group, at);
      look_at(segment, use);
      at = segment.end();
    } while (at != 0 && first_bits(at, bits) == prefix);
  }

  KeyGroups groups() const { return groups_; }
  GroupRange owned() const { return owned_; }
  std::uint64_t size() const override { return size_; }
  std::uint64_t in_file(std::uint8_t number) const override { return in_file_[number]; }

  void forget(const std::array<bool, 256>& numbers) override {
    const auto forgotten = [&](std::uint8_t& file) {
      if (saved_in::is_file(file) && numbers[file]) leave(file);
    };
    for (Group& group : table_) {
      for (const auto& segment : group.directory) {
        for (std::uint32_t i = 0; i < segment->room(); ++i) forgotten(segment->beside[i].file);
        for (auto& gone : segment->erased) forgotten(gone.file);
        segment->changed = true;
      }
    }
  }

  bool changed() const override { return changed_; }
  void settle() override {
    version_ += 1;  // Each segment says so when it is written.
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
        table_[group - owned_.first] = std::exchange(from.table_[i], Group{});
      } else {
        from.count_no_more(from.table_[i]);
      }
    }
    size_ = std::exchange(from.size_, 0);
    in_file_ = std::exchange(from.in_file_, {});
    // What is said of segments is said by its versions.
    version_ = from.version_;
    changed_ = true;
  }

  bool can_join() const override { return true; }
  void strike(std::uint32_t group, const std::array<bool, 256>& files) override {
    const auto is_struck = [&](std::uint8_t& file) {
      if (!saved_in::is_file(file) || !files[file]) return false;
      leave(file);
      return true;
    };
    for_each_segment(table_[group - owned_.first], [&](Segment& segment) {
      // Those behind one that goes move up.
      for (std::uint32_t i = 0; i < segment.room();) {
        if (segment.slots[i].empty() || !is_struck(segment.beside[i].file)) {
          i += 1;
          continue;
        }
        segment.erase(i);
        size_ -= 1;
      }
      std::erase_if(segment.erased, [&](auto& gone) { return is_struck(gone.file); });
    });
  }
  void join(KeyedStates& other, const FileNumbers& numbers) override {
    auto& from = dynamic_cast<KeyedTable&>(other);
    from.end_cut();
    for (std::size_t i = 0; i < from.table_.size(); ++i) {
      Group& group = from.table_[i];
      if (group.directory.empty()) continue;
      for_each_segment(group, [&](Segment& segment) {
        const auto renumber = [&](std::uint8_t& file) {
          if (saved_in::is_file(file)) enter(file, numbers[file]);
          if (file == saved_in::none) segment.changed = true;
        };
        for (std::uint32_t at = 0; at < segment.room(); ++at) renumber(segment.beside[at].file);
        for (auto& gone : segment.erased) renumber(gone.file);
      });
      table_[from.owned_.first + i - owned_.first] = std::exchange(group, Group{});
    }
    size_ += std::exchange(from.size_, 0);
    from.in_file_ = {};
    // Newer than whatever is said of a segment.
    version_ = std::max(version_, from.version_) + 1;
    changed_ = true;
  }

  void begin_cut(KeyedCut& cut) override {
    cut_ = &cut;
    kept_runs_.clear();
    version_ += 1;
    changed_ = false;
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
      if (what > has_state) throw DecodeError("it has an entry that is none");
      Key key = in.get<Key>();
      const std::uint64_t mixed = MixedHash<Key>::of(key, groups_);
      if (groups_.group_of(mixed) != group) throw DecodeError("it has a key of another group");
      if (what == has_state) {
        const Place place = place_of(key, mixed);
        std::uint8_t& file = place.segment->beside[place.at].file;
        if (file == number && saved_in::is_file(number)) throw DecodeError("it has a key twice");
        if (saved_in::is_file(file)) leave(file);
        place.segment->slots[place.at].value = read_state<V>(in, ago_);
        enter(file, number);
      } else {
        replay_erased(std::move(key), mixed, number);
      }
    }
    return entries;
  }

 private:
  /// What a segment takes at most, but for values so large that four do not fit.
  static constexpr std::size_t segment_bytes_max = std::size_t{16} << 10;
  static constexpr std::uint32_t slots_min = 4;
  /// One of which more was saved at once is split: its values have more than they show.
  static constexpr std::uint64_t saved_bytes_max = std::uint64_t{64} << 10;
  /// What an entry of a file begins with.
  static constexpr std::uint8_t has_no_state = 0, has_state = 1;

  using Segment = KeyedSegment<Key, V>;
  using Slot = typename Segment::Slot;
  static constexpr std::uint64_t kept = Segment::kept;

  struct Group {
    /// 2^depth places, of which several may be one segment's.
    std::vector<std::shared_ptr<Segment>> directory;
    std::uint32_t depth = 0;
    std::uint32_t segments = 0;
  };

  struct Place {
    Segment* segment;
    std::uint32_t at;
  };

  template <class Use>
  static void look_at(const Segment& segment, const Use& use) {
    for (std::uint32_t i = 0; i < segment.room(); ++i) {
      const Slot& slot = segment.slots[i];
      if (!slot.empty()) use(slot.key, slot.value, slot.hash());
    }
  }

  // Of the key; it is made if there is none. It is about to be written.
  template <class K>
  Place place_of(const K& key, std::uint64_t mixed) {
    Segment* segment = writable(mixed);
    while (true) {
      const std::uint32_t at = segment->find(key, mixed);
      Slot& slot = segment->slots[at];
      if (!slot.empty()) {
        if (segment->keeps == version_) [[unlikely]]
          keep(*segment, at);
        return {segment, at};
      }
      if (segment->has_room()) {
        // Of what was not there at the cut there is nothing to keep.
        const std::uint64_t marks = segment->keeps == version_ ? kept : 0;
        segment->fill(at, Segment::hash_of(mixed) | marks, Key(key));
        size_ += 1;
        return {segment, at};
      }
      segment = make_room(mixed);
    }
  }

  // What the file has does not count any more.
  void leave(std::uint8_t& file) {
    in_file_[file] -= 1;
    file = saved_in::none;
  }
  void enter(std::uint8_t& file, std::uint8_t number) {
    file = number;
    if (saved_in::is_file(number)) in_file_[number] += 1;
  }

  // Each of a group once. `use` divides none.
  template <class Use>
  static void for_each_segment(Group& group, const Use& use) {
    if (group.directory.empty()) return;
    std::uint64_t at = 0;
    do {
      Segment& segment = segment_at(group, at);
      use(segment);
      at = segment.end();
    } while (at != 0);
  }

  // Its keys are there as long as the table is: to destroy many takes long.
  void count_no_more(Group& group) {
    for_each_segment(group, [&](Segment& segment) {
      size_ -= segment.count;
      for (std::uint32_t i = 0; i < segment.room(); ++i) {
        if (saved_in::is_file(segment.beside[i].file)) in_file_[segment.beside[i].file] -= 1;
      }
      for (const auto& gone : segment.erased) {
        if (saved_in::is_file(gone.file)) in_file_[gone.file] -= 1;
      }
    });
  }

  void replay_erased(Key key, std::uint64_t mixed, std::uint8_t number) {
    Segment& segment = *writable(mixed);
    const std::uint32_t at = segment.find(key, mixed);
    if (!segment.slots[at].empty()) {
      if (saved_in::is_file(segment.beside[at].file)) leave(segment.beside[at].file);
      segment.erase(at);
      size_ -= 1;
    }
    segment.erased.push_back({std::move(key), Segment::hash_of(mixed), saved_in::none});
    enter(segment.erased.back().file, number);
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
      changed_ = true;
    }
    Segment* segment = &segment_at(group, rest_of(mixed));
    if (segment->written != version_) [[unlikely]]
      before_write(group, *segment);
    return segment;
  }

  void before_write(Group& group, Segment& segment) {
    segment.written = version_;
    segment.changed = true;
    changed_ = true;
    if (!is_awaited(segment)) return;
    segment.keep_nothing();
    segment.keeps = version_;
    settle_erased(segment, cut_->plan(group_number(group)), [&](const Key& key) {
      one_key().writer.put(has_no_state);
      one_->writer.put(key);
      segment.old = kept_runs_.add(one_->bytes, segment.old);
    });
  }
  // The cut wants it, and has not got it.
  bool is_awaited(const Segment& segment) const {
    return cut_ != nullptr && segment.told != version_;
  }

  // The key is about to be written or erased, in a segment that keeps keys.
  void keep(Segment& segment, std::uint32_t at) {
    Slot& slot = segment.slots[at];
    if ((slot.marked & kept) != 0) return;
    slot.marked |= kept;
    std::uint8_t& file = segment.beside[at].file;
    if (!cut_->plan(groups_.group_of(slot.marked)).again[file]) return;
    if (file == saved_in::none_ever) file = saved_in::none;  // Now one has it.
    put_state(one_key().writer, slot);
    segment.old = kept_runs_.add(one_->bytes, segment.old);
  }
  static void put_state(KeyedWriter& writer, const Slot& slot) {
    writer.put(has_state);
    writer.put(slot.key);
    writer.put(slot.value);
  }

  // Calls `save(key)` for those that are gone and that the cut has to say so of, and forgets those
  // that no file has any more. Nothing has been written in the segment since the cut.
  template <class Save>
  void settle_erased(Segment& segment, const CutPlan& plan, const Save& save) {
    const auto is_settled = [&](typename Segment::Erased& gone) {
      const std::uint32_t at = segment.find(gone.key, gone.hash);
      const bool is_back = !segment.slots[at].empty();
      if (!is_back && plan.older[gone.file]) {
        if (!plan.again[gone.file]) return false;
        save(std::as_const(gone.key));
        if (saved_in::is_file(gone.file)) leave(gone.file);
        enter(gone.file, plan.number);
        return false;
      }
      // If it goes once more, that is to be said.
      if (is_back && segment.beside[at].file == saved_in::none_ever)
        segment.beside[at].file = saved_in::none;
      if (saved_in::is_file(gone.file)) leave(gone.file);
      return true;
    };
    std::erase_if(segment.erased, is_settled);
  }

  std::uint32_t group_number(const Group& group) const {
    return owned_.first + static_cast<std::uint32_t>(&group - table_.data());
  }

  // Gives what the cut wants of the segment, as it was then. It may be another one after it.
  void save(Group& group, Segment& segment) {
    if (!is_awaited(segment)) return;
    const CutPlan& plan = cut_->plan(group_number(group));
    const bool written = segment.keeps == version_;
    segment.told = version_;
    if (!written && !segment.changed && plan.only_changes) return segment.keep_nothing();
    Buffer& out = cut_->bytes();
    const std::size_t from = out.size();
    KeyedWriter writer(out);
    std::uint64_t entries = 0;
    if (!written) {
      segment.keep_nothing();
      settle_erased(segment, plan, [&](const Key& key) {
        writer.put(has_no_state);
        writer.put(key);
        entries += 1;
      });
    }
    for (std::uint32_t i = 0; i < segment.room(); ++i) {
      std::uint8_t& file = segment.beside[i].file;
      if (!plan.again[file] || (segment.slots[i].marked & kept) != 0) continue;
      put_state(writer, segment.slots[i]);
      if (saved_in::is_file(file)) leave(file);
      enter(file, plan.number);
      entries += 1;
    }
    for (const KeptRuns::Run* run = segment.old; run != nullptr; run = run->before) {
      out.append(run->bytes().data(), run->size);
      entries += 1;
    }
    segment.keep_nothing();
    segment.changed = written;
    const std::size_t bytes = out.size() - from;
    if (bytes != 0) cut_->saved(group_number(group), from, entries);
    if (bytes > saved_bytes_max && segment.count > 1) split(group, segment);
  }

  std::shared_ptr<Segment> new_segment(std::uint32_t depth, std::uint32_t prefix,
                                       std::uint32_t slots) {
    auto segment = std::make_shared<Segment>(depth, prefix, slots);
    segment->written = version_;
    segment->told = version_;
    return segment;
  }
  static std::uint32_t slots_for(std::size_t count) {
    return std::max(slots_min, std::bit_ceil(static_cast<std::uint32_t>(count + count / 4 + 1)));
  }

  // For a key of a segment that is full.
  Segment* make_room(std::uint64_t mixed) {
    Group& group = table_[number_of(mixed)];
    Segment& full = segment_at(group, rest_of(mixed));
    const std::size_t slots = 2 * std::size_t{full.room()};
    if (slots * sizeof(Slot) <= segment_bytes_max || full.count < 2) {
      grow(full, static_cast<std::uint32_t>(slots));
      return &full;
    }
    save(group, full);
    Segment& saved = segment_at(group, rest_of(mixed));
    if (saved.has_room()) return &saved;  // It was so long that it is divided already.
    if (!split(group, saved)) grow(saved, 2 * saved.room());
    return &segment_at(group, rest_of(mixed));
  }

  void grow(Segment& segment, std::uint32_t slots) {
    Segment larger(segment.depth, segment.prefix, slots);
    for (std::uint32_t i = 0; i < segment.room(); ++i) {
      if (!segment.slots[i].empty()) larger.add(segment, i);
    }
    std::swap(segment.slots, larger.slots);
    std::swap(segment.beside, larger.beside);
    segment.mask = larger.mask;
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
    const auto goes_right = [&](std::uint64_t hash) {
      return (first_bits(rest_of(hash), depth) & 1) != 0;
    };
    std::uint32_t right = 0;
    for (std::uint32_t i = 0; i < segment.room(); ++i) {
      right += !segment.slots[i].empty() && goes_right(segment.slots[i].marked) ? 1 : 0;
    }
    // One that gets all is to be divided again, and not to grow for it.
    const auto slots = [&](std::uint32_t count) {
      return count == segment.count ? segment.room() : slots_for(count);
    };
    const std::shared_ptr<Segment> halves[] = {
        new_segment(depth, 2 * segment.prefix, slots(segment.count - right)),
        new_segment(depth, 2 * segment.prefix + 1, slots(right))};
    for (std::uint32_t i = 0; i < segment.room(); ++i) {
      if (segment.slots[i].empty()) continue;
      halves[goes_right(segment.slots[i].marked) ? 1 : 0]->add(segment, i);
    }
    for (auto& gone : segment.erased) {
      halves[goes_right(gone.hash) ? 1 : 0]->erased.push_back(std::move(gone));
    }
    const std::size_t each = std::size_t{1} << (group.depth - depth);
    const std::size_t first = std::size_t{2} * segment.prefix * each;
    for (std::size_t i = 0; i < 2 * each; ++i) group.directory[first + i] = halves[i / each];
    group.segments += 1;
    return true;
  }

  KeyGroups groups_;
  GroupRange owned_;
  std::vector<Group> table_;
  std::uint64_t size_ = 0;
  std::array<std::uint64_t, 256> in_file_{};
  /// As `reads` says.
  std::uint32_t ago_ = 0;

  std::uint64_t version_ = 1;
  /// As `changed` says.
  bool changed_ = true;
  KeyedCut* cut_ = nullptr;
  struct OneKey {
    Buffer bytes;
    KeyedWriter writer{bytes};
  };
  OneKey& one_key() {
    if (!one_) one_ = std::make_unique<OneKey>();
    one_->bytes.clear();
    return *one_;
  }
  std::unique_ptr<OneKey> one_;
  /// Of the cut that is under way.
  KeptRuns kept_runs_;
  /// Where `save_next` goes on.
  std::size_t next_group_ = 0;
  std::uint64_t next_ = 0;
  /// The same of `sweep`.
  std::size_t sweep_group_ = 0;
  std::uint64_t sweep_ = 0;
};

}  // namespace piracema::detail
