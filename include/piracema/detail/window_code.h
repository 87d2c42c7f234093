#pragma once

#include <piracema/detail/gathering_code.h>
#include <piracema/detail/window_grid.h>
#include <piracema/detail/window_slices.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace piracema::detail {

/// The code of windows of one length as a node with a state for each key.
template <class In, class Key, class TimeOf, class Code>
class WindowCode : public GatheringCode<In, Key, TimeOf, Code> {
  using Base = GatheringCode<In, Key, TimeOf, Code>;
  using Base::code_;
  using typename Base::Given;
  using typename Base::Types;
  using typename Base::V;
  using Slices = WindowSlices<V>;

 public:
  template <class Windows>
  WindowCode(TimeOf time_of, Windows windows, Code code)
      : Base(std::move(time_of), std::move(code)), grid_(windows) {}

  void start(const Context& context) {
    grid_.check();
    Base::start(context);
  }
  std::string layout_of_states() const { return grid_.text(); }

  void operator()(const In& item, Slices& slices, Emit<Given>&) {
    const EventTime time = this->when(item);
    const std::int64_t slice = grid_.slice_of(time);
    if (slice < complete_) [[unlikely]]
      this->too_early(time, grid_.end(complete_));
    code_(item, slices.at(slice));
  }

  // ---- as StatesOf::advance calls them
  bool begin_closing(EventTime come) {
    const std::int64_t complete = grid_.slice_of(come);
    if (complete <= complete_) return false;
    complete_ = complete;
    return true;
  }
  bool is_due(const Slices& slices) const { return slices.is_due(complete_); }
  bool close(const Key& key, Slices& slices, Emit<Given>& emit) {
    close_until(key, slices, complete_, emit);
    return slices.empty();
  }

  void finish(const Key& key, Slices& slices, Emit<Given>& emit) {
    close_until(key, slices, std::numeric_limits<std::int64_t>::max(), emit);
  }

 private:
  void close_until(const Key& key, Slices& slices, std::int64_t until, Emit<Given>& emit) {
    slices.close(grid_.slices(), until,
                 [&](std::int64_t end, const V& first, const auto& visit_others) {
                   emit(Given{key, result(first, visit_others), grid_.begin(end), grid_.end(end)});
                 });
  }
  template <class VisitOthers>
  auto result(const V& first, const VisitOthers& visit_others) const {
    if constexpr (Types::can_combine) {
      V all = first;
      visit_others([&](const V& more) { code_.combine(more, all); });
      return Types::result_of(code_, all);
    } else {
      return Types::result_of(code_, first);  // One slice is a window.
    }
  }

  WindowGrid grid_;
  /// All windows that end here or sooner have been closed. Not saved: event time is told anew.
  std::int64_t complete_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace piracema::detail
