// The operator interface survives failures: sources, operators and sinks whose state is in the
// keyStore.
#include <doctest/doctest.h>
#include <signal.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/random.h"
#include "base/text.h"
#include "stream.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

struct Line {
  std::int64_t id = 0, value = 0;
  /// Replicas of source, operators and sink.
  std::string way;
};

Line parse(const std::string& text) {
  Line line;
  std::istringstream(text) >> line.id >> line.value >> line.way;
  return line;
}

/// What came of a run.
struct Outcome {
  /// How many messages each source has emitted, by its own word.
  std::vector<int> emitted;
  /// What each sink has written.
  std::vector<std::vector<Line>> sinks;
};

/// Runs apps/operators.cpp and kills one worker after another.
Outcome run_and_kill(std::vector<std::string> options, int sources, int sinks) {
  constexpr int kills = 5;
  const testing::ScratchDirectory scratch;
  const std::string out = scratch.path() + "/out", enough = scratch.path() + "/enough";
  options.insert(options.begin(),
                 {OPERATORS_APP, out, "items=1000000", "until=" + enough, "pause_us=500"});
  Job job(piracema_run({"-n", "4", "--snapshots", scratch.path() + "/snapshots", "--every", "50ms"},
                       options));
  Random random(4711);
  for (int i = 0; i < kills; ++i) {
    job.wait_for("snapshot");
    ::kill(job.worker(static_cast<int>(random.below(4))).pid, SIGKILL);
    job.wait_for("first_item_out");
  }
  job.wait_for("snapshot");
  std::ofstream(enough) << "";
  CHECK(job.wait() == 0);
  CHECK(job.summary()["recoveries"].size() >= kills);

  Outcome outcome;
  for (int source = 0; source < sources; ++source) {
    outcome.emitted.push_back(std::stoi(contents(concat(out, ".source.", source))));
    CHECK(outcome.emitted.back() > 0);
  }
  for (int sink = 0; sink < sinks; ++sink) {
    outcome.sinks.emplace_back();
    for (const std::string& line : lines_of(contents(concat(out, ".", sink)))) {
      outcome.sinks.back().push_back(parse(line));
    }
  }
  return outcome;
}

/// Each message came to one of the sinks, once.
void check_exactly_once(const Outcome& outcome) {
  std::map<std::int64_t, int> times;
  for (std::size_t source = 0; source < outcome.emitted.size(); ++source) {
    for (int i = 0; i < outcome.emitted[source]; ++i) {
      times[static_cast<std::int64_t>(source) * 1'000'000 + i] = 0;
    }
  }
  for (const auto& sink : outcome.sinks) {
    for (const Line& line : sink) times[line.id] += 1;
  }
  std::string wrong;
  for (const auto& [id, count] : times) {
    if (count != 1) wrong += concat(" ", id, " (", count, " times)");
  }
  CHECK(wrong == "");
}

}  // namespace

TEST_CASE("a source that stores its position and then emits is exactly-once") {
  check_exactly_once(run_and_kill({}, 1, 1));
}

TEST_CASE("a source that emits and then stores its position is exactly-once") {
  check_exactly_once(run_and_kill({"emit-first"}, 1, 1));
}

TEST_CASE("sources and sinks may have replicas, and each message comes to one sink") {
  // In turn, so that each of them has something to do to the end.
  const std::vector<std::string> options = {"sources=2", "sinks=2", "round-robin"};
  check_exactly_once(run_and_kill(options, 2, 2));
  check_exactly_once(run_and_kill({"emit-first", options[0], options[1], options[2]}, 2, 2));
}

TEST_CASE("messages with one affinity key take one way, failures or not") {
  const Outcome outcome = run_and_kill({"affinity", "sinks=2"}, 1, 2);
  check_exactly_once(outcome);
  std::map<std::int64_t, std::set<std::string>> ways;
  for (const auto& sink : outcome.sinks) {
    for (const Line& line : sink) ways[line.value % 10].insert(line.way);
  }
  REQUIRE(ways.size() == 10);
  std::set<std::string> all;
  for (const auto& [key, taken] : ways) {
    CAPTURE(key);
    CHECK(taken.size() == 1);
    all.insert(taken.begin(), taken.end());
  }
  CHECK(all.size() > 1);
}

TEST_CASE("a broadcast reaches every sink once") {
  const Outcome outcome = run_and_kill({"broadcast", "sinks=2"}, 1, 2);
  for (const auto& sink : outcome.sinks) check_exactly_once({outcome.emitted, {sink}});
}

TEST_CASE("a vector of operators is one behind the other") {
  const Outcome outcome = run_and_kill({"vector=3"}, 1, 1);
  check_exactly_once(outcome);
  for (const Line& line : outcome.sinks[0])
    CHECK(line.way.size() == std::string("0,0,0,0,0").size());
}
