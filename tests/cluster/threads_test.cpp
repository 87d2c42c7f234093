// Processes whose replicas share threads.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "stream.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

/// 1 to `count`, each once, in any order.
void check_numbers(const std::string& file, std::size_t count) {
  std::vector<std::size_t> numbers;
  for (const std::string& line : lines_of(contents(file))) numbers.push_back(std::stoul(line));
  std::sort(numbers.begin(), numbers.end());
  std::vector<std::size_t> wanted(count);
  std::iota(wanted.begin(), wanted.end(), std::size_t{1});
  CHECK((numbers == wanted));
}

std::ptrdiff_t threads_of(pid_t pid) {
  const std::filesystem::directory_iterator tasks("/proc/" + std::to_string(pid) + "/task"), end;
  return std::distance(tasks, end);
}

}  // namespace

TEST_CASE("bricks give each item once where one thread has them all") {
  for (const std::string kind : {"cycle", "shuffle", "branches", "combined"}) {
    for (const bool processes : {false, true}) {
      CAPTURE(kind);
      CAPTURE(processes);
      const testing::ScratchDirectory scratch;
      const std::string out = scratch.path() + "/out";
      const std::vector<std::string> program = {BRICKS_APP, out, "kind=" + kind, "items=5000"};
      Job job(processes ? piracema_run({"-n", "2", "--threads", "1"}, program) : program,
              {"PIRACEMA_THREADS=1"});
      REQUIRE(job.wait() == 0);
      check_numbers(out, 5'000);
    }
  }
}

TEST_CASE("bricks on one thread give each item once although processes are killed") {
  for (const std::string kind : {"cycle", "shuffle"}) {
    CAPTURE(kind);
    const testing::ScratchDirectory scratch;
    const std::string out = scratch.path() + "/out", enough = scratch.path() + "/enough";
    Job job(piracema_run({"-n", "3", "--threads", "1", "--snapshots", scratch.path() + "/snapshots",
                          "--every", "100ms"},
                         {BRICKS_APP, out, "kind=" + kind, "until=" + enough, "pause_us=200"}));
    job.wait_for("first_item_out");
    for (std::size_t kills = 0; kills < 3; ++kills) {
      job.wait_for("snapshot");
      const auto workers = job.workers();
      REQUIRE(!workers.empty());
      ::kill(workers[kills % workers.size()].pid, SIGKILL);
      job.wait_for("lost");
    }
    job.wait_for("snapshot");
    std::ofstream(enough) << "";
    REQUIRE(job.wait() == 0);
    check_numbers(out, job.summary()["items"]);
  }
}

TEST_CASE("a stream whose operators share two threads is rolled back and keeps its order") {
  const Stream stream;
  Job job(
      stream.program({"items=3000", "pause_us=100", "every_ms=20", "fault=throw-once", "at=2000"}),
      {"PIRACEMA_SNAPSHOTS=" + stream.snapshots, "PIRACEMA_THREADS=2"});
  CHECK(job.wait() == 0);
  CHECK(stream.is_right(3'000));
}

TEST_CASE("a source that sleeps does not keep those from working who share its only thread") {
  const Stream stream;
  const std::string enough = stream.path("enough");
  Job job(stream.run({"until=" + enough, "pause_us=20000"}, {"--threads", "1"}));
  // Snapshots go through all replicas while the source sleeps.
  for (int i = 0; i < 3; ++i) job.wait_for("snapshot");
  for (const Worker& worker : job.workers()) CHECK(threads_of(worker.pid) < 12);
  std::ofstream(enough) << "";
  CHECK(job.wait() == 0);
  CHECK(stream.is_right());
}

TEST_CASE("a wrong wish for threads is an error") {
  const testing::ScratchDirectory scratch;
  for (const std::string wish : {"0", "two", "5000"}) {
    Job job({BRICKS_APP, scratch.path() + "/out", "kind=shuffle", "items=5"},
            {"PIRACEMA_THREADS=" + wish});
    CHECK(job.wait() == 3);
    CHECK_FALSE(job.errors().empty());
  }
}
