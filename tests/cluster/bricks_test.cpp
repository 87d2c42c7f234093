// Graphs that are no chains: alone, as several processes, and while processes are killed.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>

#include "stream.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

std::vector<long> numbers_in(const std::string& file) {
  std::vector<long> numbers;
  for (const std::string& line : lines_of(contents(file))) numbers.push_back(std::stol(line));
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// 1 to as many as there are, each once.
bool are_all(const std::vector<long>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != static_cast<long>(i) + 1) return false;
  }
  return true;
}

const std::vector<std::string> kinds{"cycle",   "collector", "wrap",     "right_to_left",
                                     "shuffle", "branches",  "combined", "scatter"};

}  // namespace

TEST_CASE("bricks give each item once, in one process and in three") {
  for (const std::string& kind : kinds) {
    for (const bool processes : {false, true}) {
      CAPTURE(kind);
      CAPTURE(processes);
      const testing::ScratchDirectory scratch;
      const std::string out = scratch.path() + "/out";
      const std::vector<std::string> program = {BRICKS_APP, out, "kind=" + kind, "items=20000"};
      Job job(processes ? piracema_run({"-n", "3"}, program) : program);
      REQUIRE(job.wait() == 0);
      const auto numbers = numbers_in(out);
      CHECK(numbers.size() == 20'000);
      CHECK(are_all(numbers));
    }
  }
}

TEST_CASE("bricks give each item once although processes are killed") {
  for (const std::string& kind : kinds) {
    CAPTURE(kind);
    const testing::ScratchDirectory scratch;
    const std::string out = scratch.path() + "/out", enough = scratch.path() + "/enough";
    Job job(
        piracema_run({"-n", "3", "--snapshots", scratch.path() + "/snapshots", "--every", "100ms"},
                     {BRICKS_APP, out, "kind=" + kind, "until=" + enough, "pause_us=200"}));
    job.wait_for("first_item_out");
    for (int kills = 0; kills < 6; ++kills) {
      job.wait_for("snapshot");
      const auto workers = job.workers();
      REQUIRE(!workers.empty());
      ::kill(workers[static_cast<std::size_t>(kills) % workers.size()].pid, SIGKILL);
      job.wait_for("lost");
      job.wait_for("running");  // Or two losses are one recovery.
    }
    job.wait_for("snapshot");
    std::ofstream(enough) << "";
    REQUIRE(job.wait() == 0);
    const auto numbers = numbers_in(out);
    CHECK(numbers.size() > 100);
    CHECK(are_all(numbers));
    CHECK(job.summary()["items"] == numbers.size());
    CHECK(job.summary()["recoveries"].size() >= 6);
  }
}

TEST_CASE("neighbours that are fused on demand give the same, and a wrong wish is an error") {
  for (const bool processes : {false, true}) {
    CAPTURE(processes);
    const testing::ScratchDirectory scratch;
    const std::string out = scratch.path() + "/out";
    const std::vector<std::string> program = {BRICKS_APP, out, "kind=shuffle", "items=5000"};
    Job job(processes ? piracema_run({"-n", "2"}, program) : program, {"PIRACEMA_FUSE=all"});
    REQUIRE(job.wait() == 0);
    const auto numbers = numbers_in(out);
    CHECK(numbers.size() == 5'000);
    CHECK(are_all(numbers));
    // The nodes a and b are one thread.
    if (processes) CHECK(is_in("a+b", job.output()));
  }
  const testing::ScratchDirectory scratch;
  Job job({BRICKS_APP, scratch.path() + "/out", "kind=shuffle", "items=5"}, {"PIRACEMA_FUSE=some"});
  CHECK(job.wait() == 3);
  CHECK(is_in("PIRACEMA_FUSE: want 'all', 'cheap' or 'none', found 'some'", job.errors()));
}

TEST_CASE("neighbours that cost little are fused by themselves, which the graph shows") {
  const testing::ScratchDirectory scratch;
  const std::string out = scratch.path() + "/out";
  const std::vector<std::string> program = {BRICKS_APP, out, "kind=cheap", "items=1000"};
  const auto graph_with = [&](const std::string& fuse) {
    std::vector<std::string> command = program;
    command.insert(command.begin(), {PIRACEMA_COMMAND, "graph"});
    Job job(command, {"PIRACEMA_FUSE=" + fuse});
    CHECK(job.wait() == 0);
    return job.output();
  };
  CHECK(is_in("\"a\" -> \"b\" [label=\"combined\"]", graph_with("")));
  CHECK(is_in("\"a+b\" -> \"text+lines\"", graph_with("")));
  CHECK(is_in("\"a\" -> \"b\" [label=\"on demand\"]", graph_with("none")));
  Job job(piracema_run({"-n", "2"}, program));
  REQUIRE(job.wait() == 0);
  CHECK(numbers_in(out).size() == 1'000);
  CHECK(are_all(numbers_in(out)));
  CHECK(is_in("a+b", job.output()));
}

TEST_CASE("a program with combined nodes is spread over the groups of a file") {
  const testing::ScratchDirectory scratch;
  const std::string out = scratch.path() + "/out", groups = scratch.path() + "/groups.json";
  std::ofstream(groups) << R"({"groups": [{"name": "A", "endpoint": "localhost"},
                                          {"name": "B", "endpoint": "localhost"}]})";
  Job job(piracema_run({"--groups", groups}, {BRICKS_APP, out, "kind=shuffle", "items=1000"}));
  REQUIRE(job.wait() == 0);
  CHECK(numbers_in(out).size() == 1'000);
  CHECK(are_all(numbers_in(out)));
}

TEST_CASE("what may wait in a cycle is bounded by as much as the user says") {
  for (const bool processes : {false, true}) {
    CAPTURE(processes);
    const testing::ScratchDirectory scratch;
    const std::vector<std::string> program = {BRICKS_APP, scratch.path() + "/out", "kind=cycle",
                                              "items=100"};
    Job job(processes ? piracema_run({"-n", "2", "--cycle-bytes", "10B"}, program) : program,
            {"PIRACEMA_CYCLE_BYTES=10"});
    CHECK(job.wait() == 1);
    const std::string said = job.errors() + job.output();
    CHECK(is_in("the cycle of 'master': more than 10 B wait to be taken back", said));
  }
  const testing::ScratchDirectory scratch;
  Job job({BRICKS_APP, scratch.path() + "/out", "kind=cycle", "items=5"},
          {"PIRACEMA_CYCLE_BYTES=much"});
  CHECK(job.wait() == 3);
  CHECK(
      is_in("PIRACEMA_CYCLE_BYTES: want a size such as 64MB or 1GiB, found 'much'", job.errors()));
}
