// What a job costs that has nothing to do.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include "stream.h"

using namespace piracema;
using namespace piracema::testing;

// What a waking costs is the machine's affair: here between 50 and 140 us from day to day. So the
// bound is on their number, which no load changes; the processor time, which is to be under 1 % of
// a core, is a figure (README), and only a loop that spins fails by it.
TEST_CASE("a job of four workers that waits wakes 200 times a second at most, and is small") {
  const testing::ScratchDirectory scratch;
  const std::string fifo = scratch.path() + "/go";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  Job job(piracema_run({"-n", "4", "--snapshots", scratch.path() + "/snapshots"},
                       {OPERATORS_APP, scratch.path() + "/out", "items=100", "wait=" + fifo}));
  // By the second one all that was emitted has come through.
  job.wait_for("snapshot");
  job.wait_for("snapshot");

  const auto processes = job.processes();
  // The command, its agent and the workers.
  REQUIRE(processes.size() == 6);
  std::chrono::duration<double> used{};
  double wakes = 0;
  const auto count = [&](double sign) {
    for (const pid_t pid : processes) {
      used += sign * cpu_time(pid);
      wakes += sign * static_cast<double>(wakings(pid));
    }
  };
  const Time begin = now();
  count(-1);
  ::poll(nullptr, 0, 3'000);
  count(+1);
  const std::chrono::duration<double> seconds = now() - begin;
  wakes /= seconds.count();
  MESSAGE("idle: ", used / seconds * 100, " % of a core, ", wakes, " wakings a second");
  std::uint64_t largest = 0;
  for (const Worker& worker : job.workers()) {
    largest = std::max(largest, memory(worker.pid).resident_bytes);
  }
  MESSAGE("largest worker: ", largest / 1'000, " kB resident");
  CHECK(wakes <= 200);
  if (!sanitized) {
    CHECK(used / seconds < 0.05);
    CHECK(largest <= 20'000'000);
  }

  // The source waits until somebody opens it.
  const Fd go(::open(fifo.c_str(), O_WRONLY | O_CLOEXEC));
  CHECK(job.wait() == 0);
  CHECK(lines_of(contents(scratch.path() + "/out.0")).size() == 100);
}
