#pragma once

#include <functional>
#include <optional>

#include "base/clock.h"
#include "ckpt/keeper/workplace.h"
#include "forecast/store/store_watch.h"
#include "forecast/window/lent_calendar.h"
#include "loop/poller.h"

namespace piracema::ckpt {

/// The window that is open at that time or the next one; none: never again.
using WindowAt = std::function<std::optional<LentSpan>(Time)>;

/// Which window a job runs in, and how long before its end it has to be saved: said when it opens,
/// and every second from then on. Belongs to the poller's thread.
class WindowWatch {
 public:
  struct Calls {
    /// A window is open. A forecast comes first.
    std::function<void(Time closes)> opened;
    std::function<void()> none_follows;
    /// It is not open yet.
    std::function<void(Time opens)> waits;
    /// Of a dump that stops the job, and of ending its processes without one.
    std::function<void(Time duration, Time ending)> forecast;
    /// Whether forecasts are still wanted.
    std::function<bool()> is_in_use;
  };

  /// `risk`: how often a window may close before the job is saved in it. What it is given outlives
  /// it.
  WindowWatch(net::Poller& poller, WindowAt window, double risk, StoreWatch& store,
              const Workplace& place, Calls calls);
  ~WindowWatch();

  /// For the next one, whose opening is waited for; one that was told of is not told of again.
  void look();
  /// The one that is open closes by then, be there one or not.
  void leave_by(Time closes);
  /// Time{}: there is no end.
  Time closes() const { return closes_; }

 private:
  void forecast();

  net::Poller& poller_;
  const WindowAt window_;
  const double risk_;
  StoreWatch& store_;
  const Workplace& place_;
  const Calls calls_;
  Time opened_{}, closes_{};
  /// No window that closes by then is of interest any more.
  Time done_{};
  std::optional<net::Poller::Timer> opening_, next_forecast_;
};

}  // namespace piracema::ckpt
