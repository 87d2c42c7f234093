#pragma once

#include <piracema/error.h>

#include <filesystem>
#include <string>
#include <vector>

namespace piracema::tools {

/// The family of a launcher, by what it says for --version: "openmpi", "mpich", or nothing.
std::string mpi_of(const std::string& launcher);

/// What this build preloads under the programs of one MPI. An MPI of Debian's is called by its
/// family; one in another place by its family and version: "openmpi-5.0.11".
struct CollLibrary {
  std::string mpi;
  std::filesystem::path file;  ///< libpiracema_coll.so
  std::filesystem::path bin;   ///< where the launcher and the compiler wrapper of that MPI are

  std::string family() const { return mpi.substr(0, mpi.find('-')); }
};

/// All of this build, by name: beside the installed command, else where they were built.
std::vector<CollLibrary> coll_libraries();

/// The one that is called so. Errc::config, with the names of those that there are, if this build
/// has none.
Result<CollLibrary> library_called(const std::string& mpi);

/// The one for the MPI that this launcher of a family belongs to. Another one of the same family
/// would have the program run with that one's MPI, so it is no substitute: Errc::config.
Result<CollLibrary> library_for(const std::string& launcher, const std::string& family);

}  // namespace piracema::tools
