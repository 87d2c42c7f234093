#pragma once

#include <piracema/error.h>

#include <memory>
#include <string>
#include <vector>

#include "tools/run/command.h"

namespace piracema::tools {

/// Several coordinators of a job; only in the program that has src/council. `words` is the command
/// as it was typed.

/// Starts them, and waits until the job is over: its exit code. Errc::config, Errc::io.
Result<int> convene(const RunCommand& command, const std::vector<std::string>& words);

/// In a process that was started so: it is one of them, or leads to one on another host.
Result<std::unique_ptr<Coordinators>> gather(const RunCommand& command,
                                             const std::vector<std::string>& words);

}  // namespace piracema::tools
