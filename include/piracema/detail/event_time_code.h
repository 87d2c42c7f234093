#pragma once

#include <piracema/detail/callable.h>
#include <piracema/operator.h>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
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

/// Which items are late, and how far event time has come.
template <class In, class TimeOf>
class ReadsTimes {
 public:
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
  bool is_late(const In& item) {
    const EventTime time = time_of_(item);
    if (time < event_time()) {
      late_ += 1;
      return true;
    }
    latest_ = std::max(latest_, time);
    return false;
  }

 private:
  TimeOf time_of_;
  std::chrono::nanoseconds wait_;
  /// Of an item that was not late.
  EventTime latest_ = no_event_time;
  std::uint64_t late_ = 0;
};

template <class In, class TimeOf>
class DropsLate : public ReadsTimes<In, TimeOf> {
 public:
  using ReadsTimes<In, TimeOf>::ReadsTimes;

  void operator()(In item, Emit<In>& in_time) {
    if (!this->is_late(item)) in_time(std::move(item));
  }
};

template <class In, class TimeOf>
class SeparatesLate : public ReadsTimes<In, TimeOf> {
 public:
  using ReadsTimes<In, TimeOf>::ReadsTimes;

  void operator()(In item, Emit<In>& in_time, Emit<In>& late) {
    (this->is_late(item) ? late : in_time)(std::move(item));
  }
};

}  // namespace piracema::detail
