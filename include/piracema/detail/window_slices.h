#pragma once

#include <piracema/codec.h>
#include <piracema/detail/former_state.h>
#include <piracema/detail/keyed_codec.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace piracema::detail {

/// What the windows of one key have gathered: a `V` for each slice of time that has items. Windows
/// begin and end between slices, so that those which overlap share them (panes: Li, Maier, Tufte,
/// Papadimos and Tucker 2005). Slices have numbers, and so have the places between them: a window
/// of `size` slices that ends at `n` has those from `n - size` to `n - 1`.
template <class V>
class WindowSlices {
 public:
  struct CodedByItself {};

  bool empty() const { return latest_.number == none; }

  /// What slice `number` has gathered; `V{}` if it had nothing. Until the next call.
  V& at(std::int64_t number) {
    if (number == latest_.number) [[likely]]
      return latest_.value;
    return make(number);
  }

  /// Some window ends at `until` or sooner, and has not been closed.
  bool is_due(std::int64_t until) const { return !empty() && next_end_ <= until; }

  /// Closes the windows of `size` slices that end at `until` or sooner, in their order: for each
  /// that has items calls `use(end, value, more)`, where `value` is that of its first slice, and
  /// `more(visit)` visits those of the others. What no later window has is let go.
  template <class Use>
  void close(std::int64_t size, std::int64_t until, const Use& use) {
    while (is_due(until)) {
      const std::int64_t oldest = oldest_slice().number;
      if (oldest >= next_end_) {
        next_end_ = oldest + 1;
        continue;
      }
      use(next_end_, oldest_slice().value, [this](const auto& visit) { visit_others(visit); });
      next_end_ += 1;
      drop_before(next_end_ - size);
    }
  }

  void put(KeyedWriter& out) const {
    out.number(static_cast<std::uint64_t>(next_end_));
    out.number(earlier_.size() + (empty() ? 0 : 1));
    const auto one = [&](const Slice& slice) {
      out.number(static_cast<std::uint64_t>(slice.number));
      out.put(slice.value);
    };
    for (const Slice& slice : earlier_) one(slice);
    if (!empty()) one(latest_);
  }
  static WindowSlices get(KeyedReader& in) {
    WindowSlices all;
    const auto read_number = [&in] {
      const auto number = static_cast<std::int64_t>(in.number());
      if (number < -number_most || number > number_most) {
        throw DecodeError("a slice of a window is of no time");
      }
      return number;
    };
    all.next_end_ = read_number();
    for (std::uint64_t left = in.number(); left != 0; --left) {
      const std::int64_t number = read_number();
      if (number <= all.latest_.number) throw DecodeError("slices of a window are in no order");
      all.add_latest({number, in.get<V>()});
    }
    return all;
  }
  template <class Layout>
  static void describe(Layout& layout) {
    layout.template collection<V>("windows(");
  }

  /// The same with other values: `convert(V&&)` of each.
  template <class To, class Convert>
  WindowSlices<To> converted(const Convert& convert) && {
    WindowSlices<To> all;
    for (Slice& slice : earlier_) all.at(slice.number) = convert(std::move(slice.value));
    if (!empty()) all.at(latest_.number) = convert(std::move(latest_.value));
    all.next_end_ = next_end_;
    return all;
  }

 private:
  template <class>
  friend class WindowSlices;

  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
  /// No time has a slice above, if slices are a nanosecond or more.
  static constexpr std::int64_t number_most = std::numeric_limits<std::int64_t>::max() - 1;
  struct Slice {
    std::int64_t number = none;
    V value{};
  };

  // Not a part of the loops that call `at`.
  [[gnu::noinline]] V& make(std::int64_t number) {
    next_end_ = empty() ? number + 1 : std::min(next_end_, number + 1);
    if (number > latest_.number) {
      add_latest({number, V{}});
      return latest_.value;
    }
    const auto at = std::lower_bound(earlier_.begin(), earlier_.end(), number,
                                     [](const Slice& a, std::int64_t b) { return a.number < b; });
    if (at != earlier_.end() && at->number == number) return at->value;
    return earlier_.insert(at, {number, V{}})->value;
  }
  void add_latest(Slice slice) {
    if (!empty()) earlier_.push_back(std::move(latest_));
    latest_ = std::move(slice);
  }

  const Slice& oldest_slice() const { return earlier_.empty() ? latest_ : earlier_.front(); }

  // Of the window that ends next, but for the oldest: older ones have been let go.
  template <class Visit>
  void visit_others(const Visit& visit) const {
    for (std::size_t i = 1; i < earlier_.size() && earlier_[i].number < next_end_; ++i) {
      visit(earlier_[i].value);
    }
    if (!earlier_.empty() && latest_.number < next_end_) visit(latest_.value);
  }

  void drop_before(std::int64_t number) {
    const auto kept = std::find_if(earlier_.begin(), earlier_.end(),
                                   [=](const Slice& slice) { return slice.number >= number; });
    earlier_.erase(earlier_.begin(), kept);
    if (latest_.number < number) latest_ = Slice{};
  }

  /// Those with items, in their order; the newest by itself, as most items are of it.
  std::vector<Slice> earlier_;
  Slice latest_;
  /// Where the next window ends that has not been closed, or a place before it: there is none yet.
  std::int64_t next_end_ = 0;
};

template <HasBefore V>
struct FormerState<WindowSlices<V>> {
  static constexpr bool known = true;
  static constexpr std::uint32_t count = FormerState<V>::count;
  using Before = WindowSlices<typename V::Before>;
  static WindowSlices<V> from(Before&& before) {
    return std::move(before).template converted<V>(
        [](typename V::Before&& value) { return FormerState<V>::from(std::move(value)); });
  }
};

}  // namespace piracema::detail
