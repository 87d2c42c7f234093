#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "smr/service/executor/doorbell.h"

namespace piracema::smr {

/// A few threads that work for the one that owns them, which works with them as number 0.
class Team {
 public:
  /// `size` from 1, the owner included.
  explicit Team(unsigned size);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  unsigned size() const { return static_cast<unsigned>(helpers_.size()) + 1; }
  /// So many can run at the same time on this machine.
  unsigned at_once() const;
  /// How often to look before falling asleep, while others of the team are at work: it will not be
  /// long. Never, if the machine has fewer cores than we have threads: then they need the core.
  int turns_at_work() const { return 8 * turns_; }

  /// Calls `job(0)` here and `job(1)` to `job(count - 1)` on others; returns when all have. A
  /// helper that has not begun when `job(0)` returns is sent away, unless `everybody` is needed.
  void run(unsigned count, bool everybody, const std::function<void(unsigned)>& job);

 private:
  enum class State : int { idle, called, busy, leaving };
  struct Helper {
    std::atomic<State> state{State::idle};
    Doorbell called;
    std::thread thread;
  };
  void help(Helper& helper, unsigned number);

  /// How often to look before falling asleep.
  const int turns_;
  /// The owner waits here for helpers to become idle.
  Doorbell idle_;
  const std::function<void(unsigned)>* job_ = nullptr;
  std::vector<std::unique_ptr<Helper>> helpers_;
};

}  // namespace piracema::smr
