#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "loop/poller.h"

namespace piracema::cluster {

/// Notices that a coordinator which is one of several has fallen silent: stopped, or cut off, it
/// would be waited for on a connection that stays open. Belongs to the poller's thread.
class CoordinatorWatch {
 public:
  /// `silent` is called again and again while it is.
  CoordinatorWatch(net::Poller& poller, std::function<void()> silent)
      : poller_(poller), silent_(std::move(silent)) {}
  ~CoordinatorWatch() { stop(); }
  CoordinatorWatch(const CoordinatorWatch&) = delete;
  CoordinatorWatch& operator=(const CoordinatorWatch&) = delete;

  /// From now on it is silent when it was not heard for so long; 0: never.
  void expect(std::chrono::milliseconds within) {
    heard();
    within_ = within;
    if (within.count() == 0) return stop();
    if (!timer_) look_later();
  }
  void heard() { heard_at_ = now(); }
  /// There is none.
  void stop() {
    if (timer_) poller_.cancel(*std::exchange(timer_, std::nullopt));
  }

 private:
  // What has arrived is read before a timer that is due: whoever was stopped itself hears it first.
  void look_later() {
    timer_ = poller_.at(now() + within_ / 4, [this] {
      timer_.reset();
      look_later();
      if (now() - heard_at_ >= within_) silent_();
    });
  }

  net::Poller& poller_;
  const std::function<void()> silent_;
  std::chrono::milliseconds within_{0};
  Time heard_at_{};
  std::optional<net::Poller::Timer> timer_;
};

}  // namespace piracema::cluster
