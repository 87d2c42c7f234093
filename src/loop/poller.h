#pragma once

#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/adaptive_spin.h"
#include "base/clock.h"
#include "base/fd.h"

namespace piracema::net {

/// Waits for sockets, timers and other threads, and calls whoever asked.
///
/// Whoever calls `run` or `run_once` is its thread; callbacks run there and must not block.
/// Unless another thread is named, a function belongs to that thread, or to anybody while nobody
/// runs the loop. Callbacks may forget any descriptor and cancel any timer, their own included.
class Poller {
 public:
  using OnReady = std::function<void(std::uint32_t events)>;
  /// Names a timer; one that has fired or was cancelled names nothing.
  using Timer = std::pair<Time, std::uint64_t>;

  /// Throws std::system_error when the process has no descriptors left.
  Poller();

  /// Calls back while one of `events` (EPOLLIN, EPOLLOUT …) holds: level-triggered. EPOLLERR and
  /// EPOLLHUP are always told. The descriptor stays the caller's, to be forgotten before it is
  /// closed.
  void watch(int fd, std::uint32_t events, OnReady on_ready);

  /// Waits for other events from now on; does nothing if the descriptor was forgotten. Any thread,
  /// as long as the descriptor is open.
  void change(int fd, std::uint32_t events);

  /// No callback for the descriptor follows. Does nothing if it is not watched.
  void forget(int fd);

  /// Calls back once, up to a millisecond after `when`.
  Timer at(Time when, std::function<void()> callback);
  void cancel(Timer timer);

  /// Calls `work` on the poller's thread, in the order of posting. Any thread.
  void post(std::function<void()> work);

  /// Waits until something is ready, at most `timeout` (negative: for ever), and calls back.
  void run_once(std::chrono::milliseconds timeout);

  /// Makes `run_once` return once it has called back for what is ready. Any thread; costs nothing
  /// on the poller's own.
  void wake();
  /// For callbacks, that thread: they should not wait for what may come soon, as `run_once` was
  /// told not to wait, or woken.
  bool is_returning() const { return returning_; }

  /// Can be read while something is ready, for whoever waits for several pollers. Timers do not
  /// make it so.
  int handle() const { return epoll_.get(); }

  /// Goes on until `stop`, which any thread may call, also before.
  void run();
  void stop();

 private:
  bool is_mine() const;
  int wait_ms(std::chrono::milliseconds timeout) const;
  void run_posted();
  void run_timers();

  Fd epoll_;
  Fd wake_;
  std::atomic<std::thread::id> runner_;
  std::atomic<bool> stopped_ = false;
  bool returning_ = false;

  /// By descriptor. Shared with the loop, so that a callback outlives its own `forget`.
  std::vector<std::shared_ptr<OnReady>> watched_;
  /// What the last wait reported; `forget` takes out what it makes obsolete.
  std::array<epoll_event, 64> batch_{};
  std::size_t batch_size_ = 0;
  AdaptiveSpin spin_;

  std::map<Timer, std::function<void()>> timers_;
  std::uint64_t timer_count_ = 0;

  std::mutex posted_mutex_;
  std::vector<std::function<void()>> posted_;
};

}  // namespace piracema::net
