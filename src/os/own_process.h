#pragma once

#include <piracema/error.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/fd.h"

namespace piracema::ckpt {

/// What is run for somebody, as if he had started it by hand.
struct OwnProgram {
  /// The first one is looked for in the PATH of `environment`.
  std::vector<std::string> words, environment;
  std::string working_directory;
  /// Where its output and its errors are added.
  std::string output = "/dev/null", errors = "/dev/null";
};

/// A process that this one has started and waits for; it gets a SIGTERM if this one dies.
struct OwnProcess {
  pid_t pid = 0;
  /// A pidfd: readable when it has ended.
  Fd handle;
};

/// Exit code 127 of the process is a program that cannot be run. Errc::io.
Result<OwnProcess> start_own_process(const OwnProgram& program);

/// The exit status of one that was told to save itself, by us or by the end of its parent.
constexpr int saved_code = 75;

}  // namespace piracema::ckpt
