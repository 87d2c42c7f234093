#pragma once

#include <piracema/error.h>

#include <string>

namespace piracema::tools {

/// The family of a launcher, by what it says for --version: "openmpi", "mpich", or nothing.
std::string mpi_of(const std::string& launcher);

/// The library to preload for "openmpi" or "mpich": beside the installed command, else where it was
/// built. Errc::config if this build has none.
Result<std::string> library_of(const std::string& mpi);

}  // namespace piracema::tools
