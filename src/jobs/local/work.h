#pragma once

#include <piracema/error.h>

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "os/account.h"

namespace piracema::jobs {

/// What a supervisor is told to run, by whoever starts it.
struct Work {
  /// Descriptors, which it inherits: where it says how the job has ended, and what the job reads;
  /// -1: nothing.
  int result = -1, input = -1;
  /// Until then the job may live, unless more is said.
  Time until{};
  int niceness = 0;
  /// As whom the job runs; nothing: as its supervisor. Of that one names are not told.
  std::optional<cluster::Account> account;
  std::string directory;
  std::vector<std::string> command, environment;
};

/// The environment goes by a file that is in memory alone. It is neither the supervisor's own, as
/// whoever has asked for a job may have less rights than that, and a variable such as LD_PRELOAD
/// would be a way to more; nor in words, which all users of a machine see. Errc::io.
Result<Fd> in_memory(const std::vector<std::string>& environment);
/// All else, for the supervisor's command line.
std::vector<std::string> words_of(const Work& work, const Fd& environment);
/// Of these words, and of what they name; nothing if they are none.
std::optional<Work> work_of(const std::vector<std::string>& words);

}  // namespace piracema::jobs
