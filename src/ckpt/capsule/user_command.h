#pragma once

#include <piracema/error.h>
#include <sys/types.h>

#include <optional>
#include <string>

#include "base/clock.h"
#include "ckpt/capsule/capsule_messages.h"

namespace piracema::ckpt {

/// A command of the user's that runs beside the job, inside of its capsule: before an image, or
/// after a restart. One at a time, and in a bounded time.
class UserCommand {
 public:
  /// Of an order of kind `command`; `job` is the job's first process, which the command learns. It
  /// is our child. Errc::config if it cannot be run.
  Result<Done> begin(const Order& order, pid_t job);
  /// 0: none runs.
  pid_t pid() const { return pid_; }
  /// In so many milliseconds it is killed; -1: none runs.
  int left_ms(Time now) const;
  /// Kills it if its time is over.
  void look(Time now);
  /// Kills it, with what it has started.
  void kill();
  /// It was waited for: what is wrong with how it has ended; empty if nothing is.
  std::string ended(int wait_status);

 private:
  pid_t pid_ = 0;
  Time until_{};
  bool is_late_ = false;
  Order order_;
};

}  // namespace piracema::ckpt
