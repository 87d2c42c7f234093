#pragma once

#include <piracema/detail/callable.h>
#include <piracema/detail/event_time_code.h>
#include <piracema/detail/expiry.h>
#include <piracema/detail/window_grid.h>
#include <piracema/window_result.h>

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

/// The user's code of a window, of whatever kind, and the times of its items.
template <class In, class Key, class TimeOf, class Code>
class GatheringCode {
  static_assert(
      !HasTtl<Code>,
      "the code of a window has no state_ttl(): what a window has gathered is let go when "
      "event time has come to its end");

 public:
  using Types = WindowTypes<Code, In>;
  using V = typename Types::V;
  using Given = WindowResult<Key, typename Types::Result>;

  void start(const Context& context) {
    if constexpr (requires { code_.start(context); }) code_.start(context);
  }

 protected:
  GatheringCode(TimeOf time_of, Code code) : time_of_(std::move(time_of)), code_(std::move(code)) {}

  /// When the item happened, which has windows around it.
  EventTime when(const In& item) {
    const EventTime time = time_of_(item);
    if (time <= earliest || time >= latest) [[unlikely]]
      no_window(time);
    return time;
  }
  [[noreturn]] static void too_early(EventTime time, EventTime counted) {
    throw std::logic_error("an item of " + text_of(time) + " comes where all before " +
                           text_of(counted) +
                           " has been counted: its time was another one at event_time(...)");
  }

  TimeOf time_of_;
  Code code_;

 private:
  static constexpr EventTime earliest = EventTime::min() + 2 * WindowGrid::longest;
  static constexpr EventTime latest = EventTime::max() - 2 * WindowGrid::longest;

  static std::string text_of(EventTime time) {
    return std::to_string(time.time_since_epoch().count()) + " ns since 1970";
  }
  [[noreturn]] static void no_window(EventTime time) {
    throw std::out_of_range("an item of " + text_of(time) +
                            ": want a time from 1700 to 2240, so that there are windows around it");
  }
};

}  // namespace piracema::detail
