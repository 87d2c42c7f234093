#pragma once

#include <piracema/error.h>

#include <memory>
#include <string>
#include <vector>

#include "tools/run/command.h"

namespace piracema::tools {

/// Brings the coordinators of a job together, of which this process is one, or leads to one on
/// another host. `words` is the command as it was typed. Only in the program that has src/council.
Result<std::unique_ptr<Coordinators>> gather(const RunCommand& command,
                                             const std::vector<std::string>& words);

}  // namespace piracema::tools
