#pragma once

#include <piracema/blocks.h>
#include <piracema/detail/session_code.h>
#include <piracema/detail/window_code.h>
#include <piracema/event_time.h>
#include <piracema/window_result.h>
#include <piracema/windows.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace piracema {

/// Gathers items by their key and by when they happened: one result for each key and each window
/// that has items of it, as soon as event time has come to the end of the window.
///
///     struct Mean {
///       struct Sum { double sum = 0; std::uint64_t count = 0; };
///       // Takes an item in; for windows that overlap, what another stretch of time has gathered;
///       // and what the result is, else the Sum itself.
///       void operator()(const Reading& reading, Sum& sum) const { … }
///       void combine(const Sum& more, Sum& into) const { … }
///       double result(const Sum& sum) const { return sum.sum / sum.count; }
///     };
///     // Gives a WindowResult<Sensor, double>.
///     window("by_minute", 2, sensor_of, time_of, tumbling(1min), Mean{})
///
/// `code` takes an item into what the window has gathered, at first `V{}`; for windows that
/// overlap, and for sessions, it has `combine`, which takes in what another stretch of time has
/// gathered. `key_of` and `time_of` read an item. The results of one key come in the order of their
/// windows; those of sessions up to an eighth of the gap later than event time would have it. After
/// the last item all windows that have items are closed.
///
/// Each item is taken in once: what comes in time at `event_time`, before it, comes in time here.
/// So the results depend on the items alone, not on speed, placement, or what was lost. An item
/// whose `time_of` is earlier here than it was there, and too early by now, fails by an error.
/// What windows have gathered is a state by key, in as many `groups` as `by_key` has, on disk where
/// such states are, and scales as they do.
template <class KeyOf, class TimeOf, class Windows, class Code>
auto window(std::string name, std::uint32_t replicas, KeyOf key_of, TimeOf time_of, Windows windows,
            Code code, std::uint32_t groups = key_groups_default) {
  using In = detail::TimedItem<TimeOf>;
  using Types = detail::WindowTypes<Code, In>;
  using Key = typename detail::KeptKey<detail::KeyFound<In, KeyOf>>::type;
  using F = std::conditional_t<std::is_same_v<Windows, Sessions>,
                               detail::SessionCode<In, Key, TimeOf, Code>,
                               detail::WindowCode<In, Key, TimeOf, Code>>;
  static_assert(Types::can_combine || std::is_same_v<Windows, Tumbling>,
                "windows that overlap share what they gather, and an item may join two sessions: "
                "give the code of a window combine(const V& more, V& into)");
  engine::NodeShape node{.name = std::move(name), .replicas = replicas};
  auto block = detail::keyed_block_of<In, WindowResult<Key, typename Types::Result>>(
                   std::move(node), F(std::move(time_of), windows, code), {false})
                   .by_key(std::move(key_of), groups);
  engine::NodeShape& made = block.parts.graph.shape.nodes.back();
  made.needs_event_time = true;
  // What the windows gather is saved; what is not is of the user's code alone.
  made.unsaved = detail::unsaved_because<Code>();
  made.saves_state = made.unsaved.empty();
  return block;
}

}  // namespace piracema
