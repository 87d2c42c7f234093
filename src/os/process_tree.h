#pragma once

#include <piracema/error.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

/// What the kernel tells of the processes of a job; from inside of its capsule, where /proc has
/// nobody else's. Processes come and go meanwhile unless the job is frozen: one that is gone is
/// left out.
namespace piracema::ckpt {

struct JobProcess {
  pid_t pid = 0, parent = 0;
  std::string name;
  /// In memory, in bytes.
  std::uint64_t resident = 0;
};

/// Every process in /proc.
std::vector<JobProcess> all_processes();

/// Those of `all` that descend from `root`, itself included.
std::vector<JobProcess> tree_of(const std::vector<JobProcess>& all, pid_t root);

/// A descriptor of a process.
struct OpenFile {
  pid_t pid = 0;
  int fd = 0;
  /// As /proc tells it: "/var/tmp/out", "socket:[123]", "/tmp/x (deleted)".
  std::string target;
  bool regular = false, readable = false, writable = false, append = false;
  /// Of /proc, /sys and the like: not a file but what the kernel has to say.
  bool of_kernel = false;
  /// Of a regular file: links to it (0: deleted), size, and where the descriptor is in it.
  std::uint64_t links = 0, bytes = 0, position = 0;
};
std::vector<OpenFile> open_files(pid_t pid);

/// What no image can hold, each a line such as "process 1004 (app) has /dev/nvidia0 open"; empty
/// if all can be saved. `exempt` are processes of ours in the capsule that are not the job's.
std::vector<std::string> obstacles(pid_t root, const std::vector<pid_t>& exempt);

/// Of all processes of the tree, in bytes; memory that they share is counted once for each.
struct JobMemory {
  std::uint64_t resident = 0, swapped = 0, processes = 0;
};
JobMemory job_memory(pid_t root);

/// Of all processes of the tree, in bytes: memory that was written and is in no file; what is
/// shared is counted once. It takes the kernel some milliseconds for each gigabyte.
std::uint64_t written_memory(pid_t root);

}  // namespace piracema::ckpt
