#pragma once

#include <piracema/codec.h>
#include <piracema/detail/former_state.h>
#include <piracema/detail/keyed_codec.h>
#include <piracema/detail/window_grid.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace piracema::detail {

/// What the sessions of one key have gathered: a `V` for each stretch of time with items that are
/// nearer to each other than the gap. In their order, and the gap or more apart. Times are ns since
/// 1970, those of items so far from the ends of 64 bits that a gap more is one, too.
template <class V>
class SessionList {
 public:
  struct CodedByItself {};
  struct Session {
    std::int64_t first = 0, last = 0;
    V value{};
  };

  bool empty() const { return sessions_.empty(); }

  /// What the session has gathered that an item of that time belongs to; `V{}` if it begins one.
  /// Where the item joins two, `combine(V&& later, V& earlier)` is called before. Until the next
  /// call.
  template <class Combine>
  V& at(std::int64_t time, std::int64_t gap, const Combine& combine) {
    // Most items are of the latest session, or after it.
    std::size_t next = sessions_.size();
    while (next > 0 && sessions_[next - 1].first > time) --next;
    const bool joins_earlier = next > 0 && time < sessions_[next - 1].last + gap;
    const bool joins_later = next < sessions_.size() && sessions_[next].first < time + gap;
    if (joins_earlier) {
      Session& session = sessions_[next - 1];
      session.last = std::max(session.last, time);
      if (joins_later) {
        Session& later = sessions_[next];
        combine(std::move(later.value), session.value);
        session.last = std::max(session.last, later.last);
        sessions_.erase(sessions_.begin() + static_cast<std::ptrdiff_t>(next));
      }
      return sessions_[next - 1].value;
    }
    if (joins_later) {
      sessions_[next].first = time;
    } else {
      sessions_.insert(sessions_.begin() + static_cast<std::ptrdiff_t>(next), {time, time, V{}});
    }
    return sessions_[next].value;
  }

  /// No item from `come` on belongs to the earliest one.
  bool is_due(std::int64_t come, std::int64_t gap) const {
    return !empty() && sessions_.front().last + gap <= come;
  }

  /// Calls `use(session)` for those to which no item from `come` on belongs, in their order, and
  /// lets them go.
  template <class Use>
  void close(std::int64_t come, std::int64_t gap, const Use& use) {
    auto next = sessions_.begin();
    for (; next != sessions_.end() && next->last + gap <= come; ++next) use(*next);
    sessions_.erase(sessions_.begin(), next);
  }
  template <class Use>
  void close_all(const Use& use) {
    for (const Session& session : sessions_) use(session);
    sessions_.clear();
  }

  void put(KeyedWriter& out) const {
    out.number(sessions_.size());
    for (const Session& session : sessions_) {
      out.number(static_cast<std::uint64_t>(session.first));
      out.number(static_cast<std::uint64_t>(session.last));
      out.put(session.value);
    }
  }
  static SessionList get(KeyedReader& in) {
    SessionList all;
    for (std::uint64_t left = in.number(); left != 0; --left) {
      const auto first = static_cast<std::int64_t>(in.number());
      const auto last = static_cast<std::int64_t>(in.number());
      if (first < -time_most || last > time_most) throw DecodeError("a session is of no time");
      if (last < first || (!all.empty() && first <= all.sessions_.back().last)) {
        throw DecodeError("sessions are in no order");
      }
      all.sessions_.push_back({first, last, in.get<V>()});
    }
    return all;
  }
  template <class Layout>
  static void describe(Layout& layout) {
    layout.template collection<V>("sessions(");
  }

  /// The same with other values: `convert(V&&)` of each.
  template <class To, class Convert>
  SessionList<To> converted(const Convert& convert) && {
    SessionList<To> all;
    for (Session& session : sessions_) {
      all.sessions_.push_back({session.first, session.last, convert(std::move(session.value))});
    }
    return all;
  }

 private:
  template <class>
  friend class SessionList;

  static constexpr std::int64_t time_most =
      std::numeric_limits<std::int64_t>::max() - WindowGrid::longest.count();

  std::vector<Session> sessions_;
};

template <HasBefore V>
struct FormerState<SessionList<V>> {
  static constexpr bool known = true;
  static constexpr std::uint32_t count = FormerState<V>::count;
  using Before = SessionList<typename V::Before>;
  static SessionList<V> from(Before&& before) {
    return std::move(before).template converted<V>(
        [](typename V::Before&& value) { return FormerState<V>::from(std::move(value)); });
  }
};

}  // namespace piracema::detail
