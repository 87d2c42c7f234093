#include "bench/common/harness.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using namespace piracema;
using namespace piracema::bench;

TEST_CASE("a summary has the median of an odd and of an even number of runs") {
  CHECK(summarize({3, 1, 2}).median == 2);
  CHECK(summarize({4, 1, 3, 2}).median == 2.5);
  CHECK(summarize({4, 1, 3, 2}).min == 1);
  CHECK(summarize({4, 1, 3, 2}).max == 4);
  CHECK(summarize({4, 2, 8}).spread() == 1.5);
}

TEST_CASE("a command is measured with the processes that it starts") {
  const auto sample = run_command(
      {"sh", "-c", "sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'; exit 3"});
  REQUIRE(sample);
  CHECK(sample->exit_code == 3);
  CHECK(sample->cpu_s > 0.001);
  CHECK(sample->wall_s > 0.001);
}

TEST_CASE("the peak of a command is its own, not that of the process that measures") {
  const auto big = run_command({"sh", "-c", "x=$(head -c 60000000 /dev/zero | tr '\\0' x)"});
  REQUIRE(big);
  CHECK(big->peak_mb > 60);
  std::vector<char> large(200'000'000, 'x');
  const auto small = run_command({"true"});
  REQUIRE(small);
  CHECK(small->peak_mb < 100);
}

TEST_CASE("what a command says is told apart, and a signal has its own exit code") {
  std::string output, last_words;
  const auto sample = run_command({"sh", "-c", "echo out; echo err >&2; kill -TERM $$"},
                                  {.output = &output, .last_words = &last_words});
  REQUIRE(sample);
  CHECK(sample->exit_code == 128 + 15);
  CHECK(output == "out\n");
  CHECK(last_words == "err\n");
}

TEST_CASE("a command that fails is an error with its last words") {
  const auto sample = command_side("x", {"sh", "-c", "echo no disk >&2; exit 1"}).run();
  REQUIRE_FALSE(sample);
  CHECK(sample.error().message == "'sh' ended with exit code 1; it said:\nno disk\n");
}

TEST_CASE("a command that does not exist or does not end is an error") {
  CHECK(run_command({"/no/such/command"}).error().message ==
        "'/no/such/command' cannot be started: No such file or directory");
  CHECK(run_command({}).error().code == Errc::usage);
  const auto endless = run_command({"sleep", "1000"}, {.timeout = std::chrono::seconds(0)});
  CHECK(endless.error().code == Errc::timeout);
}

TEST_CASE("a function is measured in this process") {
  const auto sample = function_side("sum", [] {
                        volatile unsigned sum = 0;
                        for (unsigned i = 0; i < 5'000'000; ++i) sum = sum + i;
                      }).run();
  REQUIRE(sample);
  CHECK(sample->wall_s > 0);
  CHECK(sample->cpu_s > 0);
}

// A build with sanitizers refuses to compare.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

// Takes `wall_s` by its own account, and leaves its name in `trace`.
Side fake(std::string name, double wall_s, std::string& trace) {
  return {.name = name, .run = [=, &trace]() -> Result<Sample> {
            trace += name;
            return Sample{.wall_s = wall_s};
          }};
}

std::vector<double> wall_of(const std::vector<Sample>& samples) {
  std::vector<double> wall;
  for (const Sample& sample : samples) wall.push_back(sample.wall_s);
  return wall;
}

}  // namespace

TEST_CASE("the sides take turns, and warm-ups do not count") {
  std::string trace;
  const auto comparison =
      compare("title", fake("a", 3, trace), fake("b", 2, trace), {.runs = 3, .warmups = 2});
  REQUIRE(comparison);
  CHECK(trace == "ababababab");
  CHECK(wall_of(comparison->a) == std::vector<double>{3, 3, 3});
  CHECK(wall_of(comparison->b) == std::vector<double>{2, 2, 2});
  CHECK(comparison->ratio().median == 1.5);
}

TEST_CASE("more than two sides take turns as well, and any two of them can be compared") {
  std::string trace;
  const auto tracks = rotate({fake("a", 6, trace), fake("b", 3, trace), fake("c", 2, trace)},
                             {.runs = 2, .warmups = 1});
  REQUIRE(tracks);
  CHECK(trace == "abcabcabc");
  CHECK(compare("a and c", (*tracks)[0], (*tracks)[2]).ratio().median == 3);
  CHECK(compare("b and c", (*tracks)[1], (*tracks)[2]).ratio().median == 1.5);
}

TEST_CASE("ratios are of neighbours, and the best of A meets the median of B") {
  Comparison comparison;
  for (const double wall : {8.0, 16.0, 9.0}) comparison.a.push_back({.wall_s = wall});
  for (const double wall : {8.0, 8.0, 10.0}) comparison.b.push_back({.wall_s = wall});
  CHECK(comparison.ratio().min == 0.9);
  CHECK(comparison.ratio().median == 1);
  CHECK(comparison.ratio().max == 2);
  CHECK(comparison.against_best() == 1);
}

TEST_CASE("each run is prepared and checked, and a failed check ends it all") {
  std::string trace;
  Side a = fake("a", 1, trace);
  a.prepare = [&trace]() -> Result<Done> {
    trace += "(";
    return Done{};
  };
  a.check = [&trace]() -> Result<Done> {
    trace += ")";
    if (trace.size() > 6) return Error{Errc::failed, "the output differs"};
    return Done{};
  };
  const auto comparison = compare("title", a, fake("b", 1, trace), {.runs = 5, .warmups = 0});
  REQUIRE_FALSE(comparison);
  CHECK(comparison.error().message == "a: the output differs");
  CHECK(trace == "(a)b(a)");
}

TEST_CASE("settings and runs that say nothing are refused") {
  std::string trace;
  const Side a = fake("a", 1, trace), b = fake("b", 0.0001, trace);
  CHECK(compare("", a, a, {.runs = 0}).error().message == "runs: want 1 to 1000, found 0");
  CHECK(compare("", a, a, {.warmups = -1}).error().message == "warmups: want 0 to 100, found -1");
  CHECK(compare("", a, b, {}).error().code == Errc::usage);
}

TEST_CASE("text and JSON say what was measured") {
  std::string trace;
  const auto comparison =
      compare("sorting", fake("old", 3, trace), fake("new", 2, trace), {.runs = 2, .warmups = 0});
  REQUIRE(comparison);
  CHECK(to_text(*comparison).find("B is 1.500 times as fast as A") != std::string::npos);
  const auto json = to_json(this_machine(), {*comparison});
  CHECK(json["machine"]["cores"].get<unsigned>() >= 1);
  CHECK(json["comparisons"][0]["title"] == "sorting");
  CHECK(json["comparisons"][0]["b"]["name"] == "new");
  CHECK(json["comparisons"][0]["b"]["wall_s"]["median"] == 2);
  CHECK(json["comparisons"][0]["ratio"]["median"] == 1.5);
  CHECK(json["comparisons"][0]["a"]["runs"].size() == 2);
}

#endif
