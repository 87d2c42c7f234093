#pragma once

#include <piracema/error.h>

#include <optional>

#include "base/fd.h"

/// Where a job has several hosts, the hook of a dump (hook.h) waits, its part of the job frozen,
/// until all are as far; and that of a restart does, before the job runs, until its image is known
/// to be good. It asks the first process of its capsule.
namespace piracema::ckpt {

enum class HookStep : char { frozen = 'f', recorded = 'r', filled = 'm' };

/// The capsule's end, and what was said to the hook. For one dump or restart at a time.
class HookDoor {
 public:
  static Result<HookDoor> open();

  /// Readable when there is something to `hear`.
  int watched() const { return hook_ ? hook_.get() : listener_.get(); }
  /// The step that the hook has come to and waits at; none if it only came, or went, or was told
  /// already whether to go on.
  std::optional<HookStep> hear();
  /// A dump or a restart begins: nothing was said to its hook.
  void begin();
  /// To the hook that waits: go on, or give up. What is given up stays so. `ahead`: it may not have
  /// come that far, and is told when it does.
  void proceed(bool ok, bool ahead);
  /// All have recorded their parts and may go on, or were told so ahead.
  bool agreed() const { return agreed_; }
  /// The dump or the restart is over.
  void end();

 private:
  explicit HookDoor(Fd listener) : listener_(std::move(listener)) {}
  std::optional<HookStep> receive();
  void answer(bool ok);

  Fd listener_, hook_;
  std::optional<HookStep> waits_at_;
  bool given_up_ = false, agreed_ = false;
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
