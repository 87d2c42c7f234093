#pragma once

#include <piracema/detail/callable.h>
#include <piracema/detail/event_time_code.h>
#include <piracema/detail/expiry.h>
#include <piracema/detail/window_grid.h>
#include <piracema/detail/window_slices.h>
#include <piracema/window_result.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace piracema::detail {

/// The code that a user gives a window: `void(const In&, V&)`.
template <class Code, class In>
struct WindowTypes {
  using Arguments = ArgumentsOf<SignatureOf<Code>>;
  using Found = typename Arguments::State;
  static constexpr bool right =
      !std::is_void_v<Found> && std::is_same_v<typename Arguments::In, In>;
  static_assert(right || any_unknown<In, typename Arguments::In>,
                "the code of a window takes an item, of the type that `time_of` takes, and what "
                "the window has gathered: void(const In&, V&)");
  static_assert(!has_collections<Found>,
                "what a window gathers has no MapState or ListState in it");
  using V = std::conditional_t<right, Found, Unknown>;

  static constexpr bool can_combine = requires(const Code& code, const V& more, V& into) {
    code.combine(more, into);
  };
  static auto result_of(const Code& code, const V& value) {
    if constexpr (requires { code.result(value); }) {
      return code.result(value);
    } else {
      return value;
    }
  }
  using Result =
      std::decay_t<decltype(result_of(std::declval<const Code&>(), std::declval<const V&>()))>;
};

/// The code of a window as a node with a state for each key.
template <class In, class Key, class TimeOf, class Code>
class WindowCode {
  using Types = WindowTypes<Code, In>;
  using V = typename Types::V;
  using Slices = WindowSlices<V>;
  using Given = WindowResult<Key, typename Types::Result>;
  static_assert(
      !HasTtl<Code>,
      "the code of a window has no state_ttl(): what a window has gathered is let go when "
      "event time has come to its end");

 public:
  template <class Windows>
  WindowCode(TimeOf time_of, Windows windows, Code code)
      : time_of_(std::move(time_of)), grid_(windows), code_(std::move(code)) {}

  void start(const Context& context) {
    grid_.check();
    if constexpr (requires { code_.start(context); }) code_.start(context);
  }
  std::string layout_of_states() const { return grid_.text(); }

  void operator()(const In& item, Slices& slices, Emit<Given>&) {
    const EventTime time = time_of_(item);
    if (!grid_.has(time)) no_window(time);
    const std::int64_t slice = grid_.slice_of(time);
    if (slice < complete_) [[unlikely]]
      too_early(time);
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

  static std::string text_of(EventTime time) {
    return std::to_string(time.time_since_epoch().count()) + " ns since 1970";
  }
  [[noreturn]] static void no_window(EventTime time) {
    throw std::out_of_range("an item of " + text_of(time) +
                            ": want a time from 1700 to 2240, so that there are windows around it");
  }
  [[noreturn]] void too_early(EventTime time) const {
    throw std::logic_error("an item of " + text_of(time) + " comes where all before " +
                           text_of(grid_.end(complete_)) +
                           " has been counted: its time was another one at event_time(...)");
  }

  TimeOf time_of_;
  WindowGrid grid_;
  Code code_;
  /// All windows that end here or sooner have been closed. Not saved: event time is told anew.
  std::int64_t complete_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace piracema::detail
