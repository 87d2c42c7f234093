#pragma once

#include <optional>

#include "ckpt/capsule/capsule.h"
#include "ckpt/network/overlay.h"

namespace piracema::ckpt {

/// Job processes get numbers above this one, so that those of a criu that restores them, which
/// begin at 2, are free.
constexpr int pid_least = 1000;

/// The job's directory of temporary files, which is in its image.
constexpr const char* capsule_temporary = "/dev/shm/tmp";

/// Makes the place: what is mounted, the network, the host's name. In the first process of new
/// namespaces. Errc::config or Errc::io with what could not be made. Gives the way to the other
/// capsules, if there are any; it takes over `settings.network`. `user`: as of capsule_main.
Result<std::optional<Overlay>> set_up_capsule(const CapsuleSettings& settings,
                                              const std::optional<OrdinaryUser>& user);

/// Names the places of the capsule to the programs that this process starts, in its environment.
void name_places();

/// The next process of this namespace gets a number above `pid`. Errc::io.
Result<Done> set_last_pid(int pid);
Result<int> last_pid();

}  // namespace piracema::ckpt
