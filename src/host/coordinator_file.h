#pragma once

#include <piracema/error.h>

#include <string>
#include <vector>

namespace piracema::cluster {

/// Where workers and agents that have lost their coordinator look for the next one: a file that
/// each coordinator of a job writes anew, in a directory that all hosts of the job see. Whoever
/// reads it asks for no more than a try: the handshake says whether it is the coordinator.

/// Its path, in the directory of a job's snapshots.
std::string coordinator_file(const std::string& snapshots);

/// Written whole or not at all; makes its folder. Errc::io.
Result<Done> write_coordinator_file(const std::string& path,
                                    const std::vector<std::string>& addresses);

/// The addresses in it, at most 64; none where there is no such file, or another thing.
std::vector<std::string> read_coordinator_file(const std::string& path);

}  // namespace piracema::cluster
