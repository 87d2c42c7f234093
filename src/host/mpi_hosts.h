#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <string>
#include <vector>

namespace piracema::cluster {

/// What MPI's own launchers (Open MPI 4 and 5, MPICH) have to find of the hosts of a job, so that
/// an mpirun that is told nothing of hosts uses them all.
struct MpiHosts {
  struct Host {
    std::string name;
    std::uint32_t slots = 0;
  };
  std::vector<Host> hosts;
  /// A line for a shell, to which a host and what to run there are added.
  std::string rsh;

  /// Files of a folder that is there, which whoever runs mpirun reads. Errc::io.
  Result<Done> write(const std::string& folder) const;
  /// "NAME=value" of all variables by which launchers find these.
  static std::vector<std::string> environment(const std::string& folder);
};

}  // namespace piracema::cluster
