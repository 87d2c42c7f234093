#pragma once

#include <piracema/error.h>

#include <memory>
#include <string>
#include <vector>

#include "tools/run/command.h"

namespace piracema::tools {

// Only in the program that has src/council. `words` is the command as it was typed.

/// Starts the coordinators of a job, or joins those that there are, and waits until it is over: its
/// exit code. Errc::config, Errc::io.
Result<int> convene(const RunCommand& command, const std::vector<std::string>& words);

/// In a process that was started so: what makes it one of them, or leads to one on another host.
Result<std::unique_ptr<Coordinators>> gather(const RunCommand& command,
                                             const std::vector<std::string>& words);

}  // namespace piracema::tools
