#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace piracema {

/// Memory that a process of ours may have, and what of it nobody uses.
struct MemoryLeft {
  std::uint64_t limit = 0, left = 0;
  /// Of all of the machine; else of a control group, such as a container or a job of Slurm.
  bool of_machine = true;
};

/// The machine's, or that of the control group (version 1 or 2) of this process, or of one above
/// it, in which the smallest part is left. Nothing if the kernel does not tell. What it keeps of
/// files and can give up counts as left.
std::optional<MemoryLeft> memory_left(const std::string& proc = "/proc",
                                      const std::string& groups = "/sys/fs/cgroup");

/// What this process has in memory; 0 if the kernel does not tell.
std::uint64_t own_memory(const std::string& proc = "/proc");

}  // namespace piracema
