#pragma once

#include <piracema/error.h>

#include <string>

namespace piracema::tools {

/// What a command prints for --version, at most 4 kB; empty if it cannot be run.
std::string first_words_of(const std::string& program);

/// The family of a launcher, by what it says: "openmpi", "mpich", or nothing.
std::string mpi_of(const std::string& launcher);

/// The library to preload for "openmpi" or "mpich": beside the installed command, else where it was
/// built. Errc::config if this build has none.
Result<std::string> library_of(const std::string& mpi);

}  // namespace piracema::tools
