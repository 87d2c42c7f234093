#pragma once

#include <string>
#include <vector>

namespace piracema::tools {

/// Runs a launcher to its end, and passes signals on that are sent to this process alone; a
/// terminal's reach both by themselves. Its exit code, 128 and the signal's number if one ended it,
/// 3 with a line if it cannot be started.
int run_launcher(const std::vector<std::string>& words);

/// Which MPI a program is linked with: "openmpi", "mpich", or words for one that there is no
/// library for; empty where that cannot be said: a script, or one that loads it later.
std::string mpi_of_program(const std::string& program);

}  // namespace piracema::tools
