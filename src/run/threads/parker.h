#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <utility>

#include "base/adaptive_spin.h"
#include "base/clock.h"

namespace piracema::runtime {

/// Lets one actor rest until another thread has something for it: asleep, where it has a thread to
/// itself, or parked, without one.
class Parker {
 public:
  /// What `wake` calls when the actor is parked. Before the first `park`.
  void when_parked(std::function<void()> go_on) { go_on_ = std::move(go_on); }

  /// Any thread. Cheap when nobody rests.
  void wake();

  // ---- the thread that has the actor
  /// Returns at once if it was woken since the last call, else sleeps until it is, or until
  /// `longest` has passed. Looks again for some microseconds first, where that has paid off lately.
  void sleep(std::optional<Time> longest = std::nullopt);
  /// False if it was woken since the last call. Else the thread has to leave it alone from here on:
  /// the next `wake` hands it to another one, perhaps already.
  bool park();
  /// It was parked, and was handed to this thread.
  void resume();

  /// Any thread, where an actor has rested long enough. False if it is not parked.
  bool unpark();

  bool is_woken() const { return state_.load() == woken; }
  bool is_asleep() const { return state_.load() == asleep; }

 private:
  enum : int { idle, woken, asleep, parked };

  std::atomic<int> state_{idle};
  std::function<void()> go_on_;
  AdaptiveSpin spin_;
};

}  // namespace piracema::runtime
