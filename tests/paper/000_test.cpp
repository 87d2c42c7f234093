// Claims of paper 000 that have no test elsewhere.
#include <doctest/doctest.h>
#include <piracema/operators.h>
#include <signal.h>
#include <unistd.h>

#include <cereal/types/map.hpp>
#include <map>

#include "base/testing.h"
#include "base/text.h"
#include "cluster/job.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

/// Runs a program whose source waits for more when 1,000 readings have come through.
void check_lines(Job& job) {
  const auto value = [](int id) { return 37 * id % 101; };
  for (int id = 0; id < 1'000; ++id) {
    const auto line = job.next_line();
    REQUIRE(line.has_value());
    // In order, although several work on them; and each station's with the one before it.
    const int before = id < 4 ? value(id) : value(id - 4);
    CHECK(*line == concat(id, " station ", id % 4, ": ", before + value(id)));
  }
  job.signal(SIGTERM);
}

std::map<std::string, std::string> table_of(const std::string& text) {
  std::map<std::string, std::string> table;
  for (const std::string& line : lines_of(text)) {
    const std::size_t colon = line.find(": ");
    table[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return table;
}

}  // namespace

TEST_CASE("a program of all that the paper gives its users runs alone") {
  Job job({INTERFACE_APP});
  check_lines(job);
  CHECK(job.wait() == -SIGTERM);
}

TEST_CASE("the same program runs unchanged as four processes") {
  Job job({PIRACEMA_COMMAND, "run", "--quiet", "-n", "4", INTERFACE_APP});
  check_lines(job);
  // The source waits for another event, which never comes; it is not waited for.
  CHECK(job.wait() == 128 + SIGTERM);
  CHECK(job.processes().empty());
}

TEST_CASE("every function of Table 1 works, in one process and in several") {
  for (const bool processes : {false, true}) {
    CAPTURE(processes);
    const testing::ScratchDirectory scratch;
    const std::string out = scratch.path() + "/out";
    Job job(processes ? piracema_run({"-n", "3"}, {TABLE1_APP, out})
                      : std::vector<std::string>{TABLE1_APP, out});
    CHECK(job.wait() == 0);
    auto table = table_of(contents(out));
    CHECK(table["contains"] == "1");
    CHECK(table["retrieve"] == "45");
    CHECK(table["getExecutionPlan"] == "source x1 operator1 x3 sink x1 ordered");
    CHECK(table["getNode"] == "sink 0 4");
    CHECK(table["getRank"] == "4");
    CHECK(table["getCommunicatorSize"] == "5");
    CHECK(table["same machine"] == "1");
    char name[256] = "";
    REQUIRE(::gethostname(name, sizeof name - 1) == 0);
    CHECK(table["getProcessorName"] == name);
  }
}

TEST_CASE("serialization takes what cereal takes, and says so when bytes are something else") {
  namespace serialization = operators::serialization;
  const std::map<std::string, std::vector<int>> value = {{"a", {1, 2}}, {"b", {}}};
  CHECK(serialization::deserialize<std::map<std::string, std::vector<int>>>(
            serialization::serialize(value)) == value);
  CHECK(serialization::deserialize<double>(serialization::serialize(0.1)) == 0.1);
  CHECK(serialization::deserialize<std::string>(serialization::serialize(std::string("\0x", 2))) ==
        std::string("\0x", 2));
  CHECK_THROWS_AS(serialization::deserialize<int>("abc"), DecodeError);
}

// Section 5.3, first experiment.
TEST_CASE("a failure after 90 of 100 messages costs fewer of them the shorter the interval is") {
  const auto taken_by_operator_2 = [](const std::string& every) {
    const testing::ScratchDirectory scratch;
    const std::string out = scratch.path() + "/out";
    Job job(
        piracema_run({"-n", "4", "--snapshots", scratch.path() + "/snapshots", "--every", every},
                     {RECOVERY_APP, out}));
    CHECK(job.wait() == 0);
    CHECK(job.summary()["recoveries"].size() == 1);
    // The sink's state, where the failure left no trace, says so at the last message.
    CHECK(contents(out + ".sink") == "99\n");
    return lines_of(contents(out)).size();
  };
  const std::size_t without = taken_by_operator_2("60s");
  const std::size_t with = taken_by_operator_2("100ms");
  CHECK(without == 90 + 100);  // From the beginning.
  // How many depends on how long a snapshot takes; all 90 without one.
  CHECK(with > 100);
  CHECK(with < without);
}
