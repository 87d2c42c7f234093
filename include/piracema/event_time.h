#pragma once

#include <piracema/blocks.h>
#include <piracema/detail/event_time_code.h>
#include <piracema/live_times.h>

#include <chrono>
#include <string>
#include <utility>

/// Event time: when something happened, as opposed to when it is worked on.
namespace piracema {

/// Late items are left out, and counted.
struct DropLate {};
inline constexpr DropLate drop_late;

/// A node that reads when each item happened, by `time_of(item)`, and tells all that follow how far
/// that has come: as far as the latest item it has seen, less `wait`, by which items may be out of
/// order. What comes later than that is late, and leaves by the second output; the others leave by
/// the first, as they came.
///
///     pipeline(combine(source("readings", Readings{}),
///                      event_time("times", time_of, 5s, drop_late)),
///              window("by_minute", 2, sensor_of, time_of, tumbling(1min), Mean{}), …)
///
/// What is late depends on the items alone, in the order in which they come to the node: put it
/// right behind a source, each replica of which then has event time of its own, or where items come
/// in one order. So the same items are late in every run, whatever is lost on the way. Behind
/// several replicas that send as they can, that order may be another one in each run. Windows and
/// other nodes that need event time may come any number of nodes later, but not behind a cycle;
/// event time is as far there as it is behind the replica that is furthest behind. A source that
/// has not ended and gives nothing stops it, but for LiveTimes (below).
///
/// Code with a state for each key may let that go by event time (blocks.h):
///
///     struct Visits {
///       std::chrono::minutes state_ttl() const { return 30min; }
///       EventTime event_time_of(const Page& page) const { return page.at; }
///       void operator()(const Page&, Visit&, Emit<Visit>&) const { … }
///       void finish(const Visitor&, const Visit& visit, Emit<Visit>& emit) const { emit(visit); }
///     };
///
/// A page that happened 30 minutes or more after the latest of a visit begins another one. `finish`
/// is called once for each visit: as such a page comes, when event time has passed the visit by
/// that long, up to an eighth of it later, or after the last item. So what it is called with
/// depends on the items of the key alone, in their order. To nodes behind it event time comes as
/// much later, so that what `finish` emits is in time there with the time of the last page.
template <class TimeOf>
auto event_time(std::string name, TimeOf time_of, std::chrono::nanoseconds wait) {
  using Reads = detail::ReadsTimes<detail::TimedItem<TimeOf>, TimeOf>;
  return node(std::move(name), detail::SeparatesLate<Reads>(std::move(time_of), wait));
}

/// The same with one output.
template <class TimeOf>
auto event_time(std::string name, TimeOf time_of, std::chrono::nanoseconds wait, DropLate) {
  using Reads = detail::ReadsTimes<detail::TimedItem<TimeOf>, TimeOf>;
  return node(std::move(name), detail::DropsLate<Reads>(std::move(time_of), wait));
}

/// The same of items that happen about when they come: where none comes event time follows the
/// clock, and one that is too far ahead of it is left out as if it were late. The clocks of the
/// hosts of such nodes, and of whoever gives the items their times, have to agree by some seconds.
///
///     event_time("times", time_of, 5s, LiveTimes{.idle_after = 10s}, drop_late)
template <class TimeOf>
auto event_time(std::string name, TimeOf time_of, std::chrono::nanoseconds wait, LiveTimes live) {
  using Reads = detail::ReadsLiveTimes<detail::TimedItem<TimeOf>, TimeOf>;
  return node(std::move(name), detail::SeparatesLate<Reads>(std::move(time_of), wait, live));
}
template <class TimeOf>
auto event_time(std::string name, TimeOf time_of, std::chrono::nanoseconds wait, LiveTimes live,
                DropLate) {
  using Reads = detail::ReadsLiveTimes<detail::TimedItem<TimeOf>, TimeOf>;
  return node(std::move(name), detail::DropsLate<Reads>(std::move(time_of), wait, live));
}

}  // namespace piracema
