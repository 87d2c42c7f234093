#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "jobs/protocol/stream_sight.h"

namespace piracema::jobs {

/// When a node looks at the streams of its jobs, and when it tells the control plane what it has
/// seen: every second while somebody asks there, else every five. Whatever one of them does holds
/// up no other, and all together cost a bounded part of the node's time. A pure machine: the driver
/// is StreamReporter.
class StreamWatch {
 public:
  static constexpr Time watched_pace = std::chrono::seconds(1), pace = std::chrono::seconds(5);
  /// Of one that did not answer in time.
  static constexpr Time late_pace = std::chrono::seconds(10);
  /// For so long a job that shows no stream may show one soon, and is looked at every second.
  static constexpr Time beginning = std::chrono::seconds(10);
  /// A job that shows no stream is told of that often.
  static constexpr Time none_pace = std::chrono::seconds(30);
  static constexpr Time least_gap = std::chrono::milliseconds(20);
  static constexpr Time tell_gap = std::chrono::milliseconds(250);
  static constexpr std::size_t looks_max = 8, told_at_a_time = 64;

  // ---- events
  /// The command of a job runs here, or does not any more.
  struct Began {
    Attempt attempt;
  };
  struct Gone {
    Attempt attempt;
  };
  /// To a `Look`.
  struct Seen {
    StreamSight sight;
    /// The stream did not answer in time.
    bool is_late = false;
  };
  /// To a `Tell`. Nothing: the control plane did not take it.
  struct Told {
    std::optional<bool> is_watched;
  };
  struct Woken {};
  using Event = std::variant<Began, Gone, Seen, Told, Woken>;

  // ---- actions
  /// `Seen` follows, unless the attempt is gone before.
  struct Look {
    Attempt attempt;
  };
  struct Tell {
    std::vector<StreamSight> sights;
  };
  using Action = std::variant<Look, Tell>;

  std::vector<Action> step(Time now, const Event& event);
  /// When it is to be woken.
  std::optional<Time> next_deadline() const;

 private:
  struct Stream {
    Time began{}, look_at{};
    bool is_looking = false;
    std::optional<StreamSight> untold;
    /// Of one that shows no stream: it was told so, and is told again then.
    std::optional<Time> none_until;
  };

  void on(const Began&);
  void on(const Gone&);
  void on(const Seen&);
  void on(const Told&);
  void on(const Woken&) {}
  void look(std::vector<Action>& actions);
  void tell(std::vector<Action>& actions);
  bool any_untold() const;

  std::map<Attempt, Stream> streams_;
  Time now_{};
  Time look_at_{}, tell_at_{};
  std::size_t looks_ = 0;
  bool is_watched_ = false, is_telling_ = false;
};

}  // namespace piracema::jobs
