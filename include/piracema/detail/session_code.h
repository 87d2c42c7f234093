#pragma once

#include <piracema/detail/gathering_code.h>
#include <piracema/detail/session_list.h>
#include <piracema/detail/window_grid.h>
#include <piracema/windows.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace piracema::detail {

/// The code of sessions as a node with a state for each key.
template <class In, class Key, class TimeOf, class Code>
class SessionCode : public GatheringCode<In, Key, TimeOf, Code> {
  using Base = GatheringCode<In, Key, TimeOf, Code>;
  using Base::code_;
  using typename Base::Given;
  using typename Base::Types;
  using typename Base::V;
  using List = SessionList<V>;

 public:
  SessionCode(TimeOf time_of, Sessions sessions, Code code)
      : Base(std::move(time_of), std::move(code)), gap_(sessions.gap) {}

  void start(const Context& context) {
    if (gap_.count() <= 0 || gap_ > WindowGrid::longest) {
      throw std::invalid_argument("sessions: want a gap above 0, of ten years at most, found " +
                                  std::to_string(gap_.count()) + " ns");
    }
    Base::start(context);
  }
  /// Others would be nearer to each other than their gap.
  std::string layout_of_states() const {
    return "until " + std::to_string(gap_.count()) + " ns without items";
  }

  void operator()(const In& item, List& sessions, Emit<Given>&) {
    const EventTime time = this->when(item);
    if (time < complete_) [[unlikely]]
      this->too_early(time, complete_);
    code_(item, sessions.at(ns(time), gap_.count(), [this](V&& later, V& earlier) {
      code_.combine(std::as_const(later), earlier);
    }));
  }

  // ---- as StatesOf::advance calls them
  bool begin_closing(EventTime come) {
    if (complete_ != no_event_time && since(complete_, come) < between_looks()) return false;
    complete_ = come;
    return true;
  }
  bool is_due(const List& sessions) const { return sessions.is_due(ns(complete_), gap_.count()); }
  bool close(const Key& key, List& sessions, Emit<Given>& emit) {
    sessions.close(ns(complete_), gap_.count(), [&](const auto& one) { give(key, one, emit); });
    return sessions.empty();
  }
  /// A session that is not closed has its last moment there or later.
  EventTime event_time_behind(EventTime) const { return complete_; }

  void finish(const Key& key, List& sessions, Emit<Given>& emit) {
    sessions.close_all([&](const auto& one) { give(key, one, emit); });
  }

 private:
  /// Each look is at all keys, and a result comes an eighth of the gap late at most.
  static constexpr std::uint64_t looks_in_gap = 8;

  std::uint64_t between_looks() const {
    return static_cast<std::uint64_t>(gap_.count()) / looks_in_gap;
  }
  /// From one to a later one; it may have more than 63 bits.
  static std::uint64_t since(EventTime from, EventTime to) {
    return static_cast<std::uint64_t>(ns(to)) - static_cast<std::uint64_t>(ns(from));
  }
  static std::int64_t ns(EventTime time) { return time.time_since_epoch().count(); }
  void give(const Key& key, const typename List::Session& one, Emit<Given>& emit) const {
    const EventTime first(EventTime::duration{one.first}), last(EventTime::duration{one.last});
    emit(Given{key, Types::result_of(code_, one.value), first, last + gap_});
  }

  std::chrono::nanoseconds gap_;
  /// Sessions to which no item from here on belongs have been closed. Not saved: event time is told
  /// anew.
  EventTime complete_ = no_event_time;
};

}  // namespace piracema::detail
