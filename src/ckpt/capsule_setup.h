#pragma once

#include "ckpt/capsule.h"

namespace piracema::ckpt {

/// Job processes get numbers above this one, so that those of a criu that restores them, which
/// begin at 2, are free.
constexpr int pid_least = 1000;

/// Makes the place: what is mounted, the network, the host's name. In the first process of new
/// namespaces. Errc::config or Errc::io with what could not be made.
Result<Done> set_up_capsule(const CapsuleSettings& settings);

/// The next process of this namespace gets a number above `pid`. Errc::io.
Result<Done> set_last_pid(int pid);
Result<int> last_pid();

}  // namespace piracema::ckpt
