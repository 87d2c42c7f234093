#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"

/// What /proc tells of the processes of a job.
namespace piracema::testing {

/// A worker process, as its environment says.
struct Worker {
  pid_t pid = 0;
  int slot = 0;
  int incarnation = 0;
};

/// The workers that live among the processes which have "PIRACEMA_TEST_JOB=mark" in their
/// environment, wherever their parent is; by slot. Stopped ones live.
std::vector<Worker> workers_of(const std::string& mark);

/// All that live with that mark, workers or not.
std::vector<pid_t> processes_of(const std::string& mark);

/// CPU time of all threads.
std::chrono::nanoseconds cpu_time(pid_t pid);

/// How often its threads have slept and been woken.
std::uint64_t wakings(pid_t pid);

/// Memory that is in use now and belongs to nobody else (RssAnon), and all of it (VmRSS).
struct Memory {
  std::uint64_t own_bytes = 0, resident_bytes = 0;
};
Memory memory(pid_t pid);

/// Readable once the process has ended.
Fd pidfd_of(pid_t pid);

}  // namespace piracema::testing
