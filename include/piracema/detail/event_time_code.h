#pragma once

#include <piracema/detail/callable.h>
#include <piracema/live_times.h>
#include <piracema/operator.h>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace piracema::detail {

/// What `time_of(item)` reads the time of.
template <class TimeOf>
struct TimedItemOf {
  using S = SignatureOf<TimeOf>;
  static constexpr bool right =
      S::count == 1 && std::is_convertible_v<typename S::Result, EventTime>;
  static_assert(right || any_unknown<typename S::Result>,
                "what reads the time of an item takes the item and returns an EventTime: of a "
                "number say what it counts, as in EventTime(std::chrono::milliseconds(n))");
  using type = std::conditional_t<right, std::decay_t<typename S::template Arg<0>>, Unknown>;
};
template <class TimeOf>
using TimedItem = typename TimedItemOf<TimeOf>::type;

/// Which items are late, and how far event time has come: by the items alone.
template <class Item, class TimeOf>
class ReadsTimes {
 public:
  using In = Item;

  ReadsTimes(TimeOf time_of, std::chrono::nanoseconds wait)
      : time_of_(std::move(time_of)), wait_(wait) {}

  void start(const Context&) const {
    if (wait_ < std::chrono::nanoseconds(0)) {
      throw std::invalid_argument("event_time: want a time to wait of 0 or more, found " +
                                  std::to_string(wait_.count()) + " ns");
    }
  }

  EventTime event_time() const {
    return latest_ < no_event_time + wait_ ? no_event_time : latest_ - wait_;
  }
  std::uint64_t items_late() const { return late_; }

  template <class Archive>
  void serialize(Archive& archive) {
    // As a number, so that users need no header of cereal's for times.
    std::int64_t ns = latest_.time_since_epoch().count();
    archive(ns, late_);
    latest_ = EventTime(EventTime::duration(ns));
  }

 protected:
  EventTime when(const In& item) { return time_of_(item); }
  bool is_late(const In& item) { return is_late_at(time_of_(item)); }
  bool is_late_at(EventTime time) {
    if (time < event_time()) return left_out();
    come_to(time);
    return false;
  }
  bool left_out() {
    late_ += 1;
    return true;
  }
  void come_to(EventTime time) { latest_ = std::max(latest_, time); }

 private:
  TimeOf time_of_;
  std::chrono::nanoseconds wait_;
  /// Of an item that was not late, or as far as the clock has brought it.
  EventTime latest_ = no_event_time;
  std::uint64_t late_ = 0;
};

/// The same by the clock as well.
template <class Item, class TimeOf>
class ReadsLiveTimes : public ReadsTimes<Item, TimeOf> {
  using Base = ReadsTimes<Item, TimeOf>;

 public:
  using typename Base::In;

  ReadsLiveTimes(TimeOf time_of, std::chrono::nanoseconds wait, LiveTimes live)
      : Base(std::move(time_of), wait), live_(live) {}

  void start(const Context& context) {
    Base::start(context);
    check("idle_after", live_.idle_after, std::chrono::milliseconds(1));
    check("ahead_at_most", live_.ahead_at_most, std::chrono::nanoseconds(0));
    now_ = context.now;
  }

  std::chrono::nanoseconds idle_after() const { return live_.idle_after; }
  void idle(WallTime now) { this->come_to(now - live_.idle_after); }

 protected:
  bool is_late(const In& item) {
    const EventTime time = this->when(item);
    return is_ahead(time) ? this->left_out() : this->is_late_at(time);
  }

 private:
  static void check(const char* what, std::chrono::nanoseconds found,
                    std::chrono::nanoseconds least) {
    constexpr std::chrono::hours most(24 * 365);
    if (found >= least && found <= most) return;
    throw std::invalid_argument("event_time: LiveTimes: want " + std::string(what) + " from " +
                                std::to_string(least.count()) + " ns to a year, found " +
                                std::to_string(found.count()) + " ns");
  }
  // The clock is asked once for all items until then.
  bool is_ahead(EventTime time) {
    if (time <= bound_) return false;
    bound_ = now_() + live_.ahead_at_most;
    return time > bound_;
  }

  LiveTimes live_;
  std::function<WallTime()> now_;
  /// No item until here is too far ahead.
  EventTime bound_ = no_event_time;
};

template <class Reads>
class DropsLate : public Reads {
 public:
  using Reads::Reads;
  using typename Reads::In;

  void operator()(In item, Emit<In>& in_time) {
    if (!this->is_late(item)) in_time(std::move(item));
  }
};

template <class Reads>
class SeparatesLate : public Reads {
 public:
  using Reads::Reads;
  using typename Reads::In;

  void operator()(In item, Emit<In>& in_time, Emit<In>& late) {
    (this->is_late(item) ? late : in_time)(std::move(item));
  }
};

}  // namespace piracema::detail
