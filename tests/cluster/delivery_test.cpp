// Who gets which item.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "stream.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

/// The items of each replica, in the order in which the sink got them.
using Shares = std::map<int, std::vector<int>>;

Shares shares_of(const std::string& text) {
  Shares shares;
  for (const std::string& line : lines_of(text)) {
    int replica = 0, item = 0;
    std::istringstream(line) >> replica >> item;
    shares[replica].push_back(item);
  }
  return shares;
}

/// Alone, or as three processes.
Shares deliver(const std::string& how, bool processes) {
  const testing::ScratchDirectory scratch;
  const std::string out = scratch.path() + "/out";
  const std::vector<std::string> program = {DELIVERY_APP, out, "how=" + how};
  Job job(processes ? piracema_run({"-n", "3"}, program) : program);
  CHECK(job.wait() == 0);
  return shares_of(contents(out));
}

/// The lines of a sender with a worker in its own process and one in another.
std::vector<std::string> take_turns(const std::string& how) {
  const testing::ScratchDirectory scratch;
  const std::string file = scratch.path() + "/groups.json", out = scratch.path() + "/out";
  std::ofstream(file) << R"({"groups": [{"name": "near", "endpoint": "localhost"},
                                        {"name": "far", "endpoint": "localhost"}]})";
  Job job({PIRACEMA_COMMAND, "run", "--quiet", "--groups", file, TURNS_APP, out, "how=" + how});
  CHECK(job.wait() == 0);
  return lines_of(contents(out));
}

/// Every item came to one of them.
void check_complete(const Shares& shares) {
  std::multiset<int> all;
  for (const auto& [replica, items] : shares) all.insert(items.begin(), items.end());
  CHECK(all.size() == 300);
  CHECK(std::set<int>(all.begin(), all.end()).size() == 300);
}

void check_every_third(const Shares& shares) {
  check_complete(shares);
  for (const auto& [replica, items] : shares) {
    CHECK(items.size() == 100);
    for (const int item : items) CHECK((item - 1) % 3 == replica);
  }
}

template <class Test>
void alone_and_as_processes(Test test) {
  for (const bool processes : {false, true}) {
    CAPTURE(processes);
    test(processes);
  }
}

}  // namespace

TEST_CASE("on demand a replica that is twice as fast gets twice as many items") {
  alone_and_as_processes([](bool processes) {
    const Shares shares = deliver("on_demand", processes);
    check_complete(shares);
    // A few wait for each of them; turn by turn it would be 150 each.
    CHECK(shares.at(0).size() > 180);
    CHECK(shares.at(0).size() < 220);
  });
}

TEST_CASE("strict round robin gives each replica every third item") {
  alone_and_as_processes(
      [](bool processes) { check_every_third(deliver("strict_round_robin", processes)); });
}

TEST_CASE("round robin gives each replica every third item if all are in one process") {
  check_every_third(deliver("round_robin", false));
  check_complete(deliver("round_robin", true));
}

TEST_CASE("round robin keeps to its own process while that asks for more") {
  const std::vector<std::string> lines = take_turns("one_at_a_time");
  const auto is_near = [](const std::string& line) { return line.starts_with("0 "); };
  // The other one may have been the first to ask for anything.
  const auto first = std::find_if(lines.begin(), lines.end(), is_near);
  CHECK(std::count_if(first, lines.end(), is_near) == 100);
  CHECK(lines.end() - first == 100);
}

TEST_CASE("round robin has another process do what its own has no time for") {
  std::map<char, int> done;
  for (const std::string& line : take_turns("near_waits")) done[line[0]] += 1;
  CHECK(done['0'] >= 1);
  CHECK(done['1'] >= 100);
}

TEST_CASE("by key, equal keys meet in one replica, in the order in which they were sent") {
  alone_and_as_processes([](bool processes) {
    const Shares shares = deliver("by_key", processes);
    check_complete(shares);
    CHECK(shares.size() > 1);
    std::map<int, std::set<int>> replicas_of_key;
    for (const auto& [replica, items] : shares) {
      std::map<int, int> last_of_key;
      for (const int item : items) {
        replicas_of_key[item % 10].insert(replica);
        CHECK(last_of_key[item % 10] < item);
        last_of_key[item % 10] = item;
      }
    }
    for (const auto& [key, replicas] : replicas_of_key) CHECK(replicas.size() == 1);
  });
}

TEST_CASE("a user's function names the replica") {
  alone_and_as_processes([](bool processes) {
    const Shares shares = deliver("custom", processes);
    check_complete(shares);
    for (const auto& [replica, items] : shares) {
      for (const int item : items) CHECK(item / 7 % 3 == replica);
    }
  });
}

TEST_CASE("a broadcast brings every item to every replica") {
  alone_and_as_processes([](bool processes) {
    const Shares shares = deliver("broadcast", processes);
    REQUIRE(shares.size() == 3);
    for (const auto& [replica, items] : shares) {
      CHECK(items.size() == 300);
      CHECK(std::set<int>(items.begin(), items.end()).size() == 300);
    }
  });
}
