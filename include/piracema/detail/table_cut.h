#pragma once

#include <piracema/detail/entry_counts.h>
#include <piracema/detail/fetch.h>
#include <piracema/detail/kept_runs.h>
#include <piracema/detail/keyed_codec.h>
#include <piracema/detail/keyed_segment.h>
#include <piracema/detail/keyed_states.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace piracema::detail {

using namespace engine;

/// What an entry of a file of states by key begins with.
struct EntryMark {
  static constexpr std::uint8_t has_no_state = 0, has_state = 1;
};

/// The version of a table, and the cut of it that is under way. Each cut raises the version. Until
/// the cut has got a segment, what is written in it is kept as it was at the cut, one key at a
/// time: a write costs its own key, not its segment. What is kept is encoded, not copied: so it
/// shares nothing with the live value, and a V need not be copyable.
///
/// A cut saves the keys that have changed since they were saved, and those whose file is not to be
/// read any more (`CutPlan`). A key that is gone is remembered as long as an older file is read.
template <class Key, class V>
class TableCut {
 public:
  using Segment = KeyedSegment<Key, V>;
  using At = typename Segment::At;

  std::uint64_t version() const { return version_; }
  /// Each segment says anew when it is written.
  void raise() { version_ += 1; }
  /// Segments of another table come; what is said of them is said by its versions.
  void take_over(const TableCut& from) { version_ = from.version_; }
  /// The same of one with segments of its own: newer than whatever is said of any.
  void join(const TableCut& from) { version_ = std::max(version_, from.version_) + 1; }

  void begin(KeyedCut& cut) {
    cut_ = &cut;
    kept_runs_.clear();
    raise();
  }
  /// Nothing more is kept for what has not been saved, unless `all_saved`.
  void end(bool all_saved) {
    if (cut_ != nullptr && !all_saved) raise();
    kept_runs_.clear();
    cut_ = nullptr;
  }
  bool is_under_way() const { return cut_ != nullptr; }

  /// The segment is about to be written for the first time in this version.
  void before_write(Segment& segment, std::uint32_t group, EntryCounts& counts) {
    segment.written = version_;
    segment.changed = true;
    if (!is_awaited(segment)) return;
    segment.keep_nothing();
    segment.keeps = version_;
    settle_erased(segment, cut_->plan(group), counts, [&](const Key& key) {
      one_key().writer.put(EntryMark::has_no_state);
      one_->writer.put(key);
      segment.old = kept_runs_.add(one_->bytes, segment.old);
    });
  }

  /// Whether keys of the segment are to be kept before they are written or erased.
  bool keeps(const Segment& segment) const { return segment.keeps == version_; }
  /// The key of this slot is about to be, in such a segment.
  void keep(Segment& segment, At at, KeyGroups groups) {
    if (segment.is_kept(at)) return;
    segment.keep(at);
    std::uint8_t& file = segment.file(at);
    if (!cut_->plan(groups.group_of(segment.hash_at(at))).again[file]) return;
    if (file == saved_in::none_ever) file = saved_in::none;  // Now one has it.
    put_state(one_key().writer, segment.slot(at));
    segment.old = kept_runs_.add(one_->bytes, segment.old);
  }

  /// Gives what the cut wants of the segment, as it was then, if it has not got it. Returns how
  /// many bytes.
  std::size_t save(Segment& segment, std::uint32_t group, EntryCounts& counts) {
    if (!is_awaited(segment)) return 0;
    const CutPlan& plan = cut_->plan(group);
    const bool written = keeps(segment);
    segment.told = version_;
    if (!written && !segment.changed && plan.only_changes) {
      segment.keep_nothing();
      return 0;
    }
    Buffer& out = cut_->bytes();
    const std::size_t from = out.size();
    KeyedWriter writer(out);
    std::uint64_t entries = 0;
    if (!written) {
      segment.keep_nothing();
      settle_erased(segment, plan, counts, [&](const Key& key) {
        writer.put(EntryMark::has_no_state);
        writer.put(key);
        entries += 1;
      });
    }
    // What has changed lies here and there: so all of it is on its way before the first is saved.
    wanted_.clear();
    segment.for_each([&](At at) {
      if (!plan.again[segment.file(at)] || segment.is_kept(at)) return;
      wanted_.push_back(at);
      fetch_all(&segment.slot(at), 1);
    });
    for (const At at : wanted_) {
      put_state(writer, segment.slot(at));
      std::uint8_t& file = segment.file(at);
      counts.leave(file);
      counts.enter(file, plan.number);
      entries += 1;
    }
    for (const KeptRuns::Run* run = segment.old; run != nullptr; run = run->before) {
      out.append(run->bytes().data(), run->size);
      entries += 1;
    }
    segment.keep_nothing();
    segment.changed = written;
    const std::size_t bytes = out.size() - from;
    if (bytes != 0) cut_->saved(group, from, entries);
    return bytes;
  }

 private:
  using Slot = typename Segment::Slot;

  // The cut wants it, and has not got it.
  bool is_awaited(const Segment& segment) const {
    return cut_ != nullptr && segment.told != version_;
  }

  static void put_state(KeyedWriter& writer, const Slot& slot) {
    writer.put(EntryMark::has_state);
    writer.put(slot.key);
    writer.put(slot.value);
  }

  // Calls `save(key)` for those that are gone and that the cut has to say so of, and forgets those
  // that no file has any more. Nothing has been written in the segment since the cut.
  template <class Save>
  static void settle_erased(Segment& segment, const CutPlan& plan, EntryCounts& counts,
                            const Save& save) {
    const auto is_settled = [&](typename Segment::Erased& gone) {
      const At at = segment.find(gone.key, gone.hash);
      const bool is_back = at != Segment::nowhere;
      if (!is_back && plan.older[gone.file]) {
        if (!plan.again[gone.file]) return false;
        save(std::as_const(gone.key));
        counts.leave(gone.file);
        counts.enter(gone.file, plan.number);
        return false;
      }
      // If it goes once more, that is to be said.
      if (is_back && segment.file(at) == saved_in::none_ever) segment.file(at) = saved_in::none;
      counts.leave(gone.file);
      return true;
    };
    std::erase_if(segment.erased, is_settled);
  }

  struct OneKey {
    Buffer bytes;
    KeyedWriter writer{bytes};
  };
  OneKey& one_key() {
    if (!one_) one_ = std::make_unique<OneKey>();
    one_->bytes.clear();
    return *one_;
  }

  std::uint64_t version_ = 1;
  KeyedCut* cut_ = nullptr;
  /// Of the cut that is under way.
  KeptRuns kept_runs_;
  std::unique_ptr<OneKey> one_;
  /// Slots of the segment that is being saved.
  std::vector<At> wanted_;
};

}  // namespace piracema::detail
