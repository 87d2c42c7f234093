#pragma once

#include <piracema/error.h>

#include <optional>

#include "base/fd.h"

/// Where a job has several hosts, the hook of a dump (hook.h) waits, its part of the job frozen,
/// until all are as far; and that of a restart does, before the job runs, until its image is known
/// to be good. It asks the first process of its capsule.
namespace piracema::ckpt {

enum class HookStep : char { frozen = 'f', recorded = 'r', filled = 'm' };

/// The capsule's end. For one dump or restart at a time.
class HookDoor {
 public:
  static Result<HookDoor> open();

  /// Readable when there is something to `hear`.
  int watched() const { return hook_ ? hook_.get() : listener_.get(); }
  /// The step that the hook has come to and waits at; none if it only came, or went.
  std::optional<HookStep> hear();
  /// To the hook that waits: go on, or give up.
  void answer(bool ok);
  /// The dump or the restart is over.
  void forget() { hook_.close(); }

 private:
  explicit HookDoor(Fd listener) : listener_(std::move(listener)) {}

  Fd listener_, hook_;
};

/// The hook's end. It keeps the connection until it ends. Errc::failed if what is
/// under way is given up.
class HookCall {
 public:
  Result<Done> wait(HookStep step);

 private:
  Fd socket_;
};

}  // namespace piracema::ckpt
