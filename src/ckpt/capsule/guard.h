#pragma once

#include <piracema/error.h>

#include "base/clock.h"
#include "base/fd.h"

namespace piracema::ckpt {

/// A process that kills another one at a time, whatever has become of who asked for it: a keeper
/// that a store holds, or that somebody has stopped, does not keep a machine that was promised.
///
/// Made by a process of one thread, used by that thread; it ends when this object does.
class Guard {
 public:
  /// Errc::io.
  static Result<Guard> start();
  Guard(Guard&&) = default;
  Guard& operator=(Guard&&) = default;

  /// SIGKILL at `when` for the process of this pidfd, of which the guard has a copy; in place of
  /// what was wanted before.
  void kill_at(int process, Time when);
  void forget();

 private:
  explicit Guard(Fd socket) : socket_(std::move(socket)) {}

  Fd socket_;
};

}  // namespace piracema::ckpt
