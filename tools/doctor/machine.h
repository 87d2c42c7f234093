#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace piracema::tools {

/// A library that is loaded when an option asks for it.
struct Library {
  /// "libcurl", what wants it, and a package that brings it, whatever its version is there.
  const char *name, *wanted_by, *package;
  bool there = false;
};

/// What this machine says about itself; checks.h judges it. A text is empty, and an optional has no
/// value, where nothing was found.
struct Machine {
  bool root = false;
  unsigned cores = 0;
  /// Bytes that are free in /dev/shm.
  std::optional<std::uint64_t> shm_free;
  /// The limit of open files that a process begins with, and up to which it may raise it.
  std::uint64_t files = 0, files_most = 0;
  /// Whether the kernel's clock follows another one.
  std::optional<bool> clock_follows;
  /// TCP's congestion control for new connections, and those that may be chosen.
  std::string congestion, congestion_choices;
  std::string ssh;
  /// The first line of what they say for --version.
  std::string compiler, slurm;
  std::vector<Library> libraries;
};

/// Looks: reads files and asks the compiler and Slurm for their version; changes nothing.
Machine look_at_machine();

}  // namespace piracema::tools
