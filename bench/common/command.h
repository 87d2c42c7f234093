#pragma once

#include <piracema/error.h>

#include <chrono>
#include <string>
#include <vector>

namespace piracema::bench {

/// What one run took.
struct Sample {
  double wall_s = 0;
  /// User and system time of the command and of all processes that it waited for.
  double cpu_s = 0;
  /// Peak memory of the largest of these processes; 0 where it is not known, as when it is below
  /// that of the process that measures.
  double peak_mb = 0;
  /// 128 + n when signal n ended it.
  int exit_code = 0;
};

struct CommandOptions {
  /// It is killed, with its process group, when it takes longer: an error.
  std::chrono::seconds timeout{600};
  /// Gets its standard output; else that is kept with standard error, for `last_words`.
  std::string* output = nullptr;
  /// Gets the end of what it wrote to standard error, at most 2 kB.
  std::string* last_words = nullptr;
};

/// Runs a command found on $PATH, with nothing on standard input, and waits for it. It ends when
/// this process does. Errors: `io` if it cannot be started, `timeout`.
Result<Sample> run_command(const std::vector<std::string>& command,
                           const CommandOptions& options = {});

}  // namespace piracema::bench
