// Who gets which item.
#include <doctest/doctest.h>

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
  const store::ScratchDirectory scratch;
  const std::string out = scratch.path() + "/out";
  const std::vector<std::string> program = {DELIVERY_APP, out, "how=" + how};
  Job job(processes ? piracema_run({"-n", "3"}, program) : program);
  CHECK(job.wait() == 0);
  return shares_of(contents(out));
}

/// Every item came to one of them.
void check_complete(const Shares& shares) {
  std::multiset<int> all;
  for (const auto& [replica, items] : shares) all.insert(items.begin(), items.end());
  CHECK(all.size() == 300);
  CHECK(std::set<int>(all.begin(), all.end()).size() == 300);
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

TEST_CASE("round robin gives each replica every third item") {
  alone_and_as_processes([](bool processes) {
    const Shares shares = deliver("round_robin", processes);
    check_complete(shares);
    for (const auto& [replica, items] : shares) {
      CHECK(items.size() == 100);
      for (const int item : items) CHECK((item - 1) % 3 == replica);
    }
  });
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
