#pragma once

#include <string>
#include <vector>

namespace piracema::jobs {

/// The process beside a job (Supervised): runs what `words` say (work.h), ends it and all that it
/// has started when it is told to, when nobody is there to tell it, and when nobody has said for
/// too long that it may live. Orders come by standard input. Gives its exit code.
int run_supervisor(const std::vector<std::string>& words);

}  // namespace piracema::jobs
