// What a job costs that has nothing to do.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include "stream.h"

using namespace piracema;
using namespace piracema::testing;

TEST_CASE("a job that waits uses less than 1 % of a core, and a worker at most 20 MB") {
  const store::ScratchDirectory scratch;
  const std::string fifo = scratch.path() + "/go";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  Job job(piracema_run({"-n", "4", "--snapshots", scratch.path() + "/snapshots"},
                       {OPERATORS_APP, scratch.path() + "/out", "items=100", "wait=" + fifo}));
  // By the second one all that was emitted has come through.
  job.wait_for("snapshot");
  job.wait_for("snapshot");

  const auto used = [&] {
    std::chrono::nanoseconds sum{};
    for (const pid_t pid : job.processes()) sum += cpu_time(pid);
    return sum;
  };
  REQUIRE(job.processes().size() == 5);
  const auto before = used();
  const Time begin = now();
  ::poll(nullptr, 0, 3'000);
  const double share = std::chrono::duration<double>(used() - before) / (now() - begin);
  MESSAGE("idle: ", share * 100, " % of a core");
  std::uint64_t largest = 0;
  for (const Worker& worker : job.workers()) {
    largest = std::max(largest, memory(worker.pid).resident_bytes);
  }
  MESSAGE("largest worker: ", largest / 1'000, " kB resident");
  if (!sanitized) {
    CHECK(share < 0.01);
    CHECK(largest <= 20'000'000);
  }

  // The source waits until somebody opens it.
  const Fd go(::open(fifo.c_str(), O_WRONLY | O_CLOEXEC));
  CHECK(job.wait() == 0);
  CHECK(lines_of(contents(scratch.path() + "/out.0")).size() == 100);
}
