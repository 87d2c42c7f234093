#include "cluster/groups/groups_file.h"

#include <doctest/doctest.h>
#include <sched.h>

#include "base/random.h"

using namespace piracema;
using namespace piracema::cluster;

namespace {

/// Paper 004, Fig. 5, as printed but for the hosts.
const std::string figure_5 = R"({"protocol" : "MPI",
 "groups": [{
   "batchSize": 10,
   "name": "G1",
   "messageOTF": 64,
   "endpoint": "localhost"
 }, {
   "name": "G2",
   "batchSize": 20,
   "threadMapping": "0",
   "endpoint": "localhost"
 }, {
   "batchSize": 20,
   "name": "G3",
   "endpoint": "localhost"
 }, {
   "name": "G4",
   "endpoint": "localhost"
 }]})";

/// The first core that this process may use.
std::uint32_t own_core() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  REQUIRE(::sched_getaffinity(0, sizeof cores, &cores) == 0);
  std::uint32_t core = 0;
  while (!CPU_ISSET(core, &cores)) core += 1;
  return core;
}

std::string why_not(const std::string& text) {
  const auto groups = parse_groups("g.json", text);
  return groups ? "" : groups.error().message;
}

/// A file of one group with this in it.
std::string with(const std::string& members) {
  return why_not("{\"groups\": [\n{\"name\": \"A\", \"endpoint\": \"localhost\", " + members +
                 "}]}");
}

const std::string two_groups =
    "{\"groups\": [{\"name\": \"A\", \"endpoint\": \"localhost\"},\n"
    "{\"name\": \"B\", \"endpoint\": \"localhost\"}]}";

}  // namespace

TEST_CASE("the file of the paper's figure 5 is read as printed") {
  std::string text = figure_5;
  text.replace(text.find("\"0\""), 3, "\"" + std::to_string(own_core()) + "\"");
  const auto file = parse_groups("g.json", text);
  REQUIRE_MESSAGE(file.ok(), file.error().message);
  CHECK(file->protocol == Protocol::mpi);
  REQUIRE(file->groups.size() == 4);
  CHECK(file->groups[0].batch_items == 10);
  CHECK(file->groups[0].on_the_way == 64);
  CHECK_FALSE(file->groups[0].on_the_way_inside.has_value());
  CHECK(file->groups[1].cores == std::vector<std::uint32_t>{own_core()});
  CHECK(file->groups[2].name == "G3");
  CHECK_FALSE(file->groups[3].batch_items.has_value());
}

TEST_CASE("whatever a file should not say is told with line and column") {
  CHECK(why_not("{\"groups\": [}") == "g.json:1:13: want a value, found '}'");
  CHECK(why_not("[]") == "g.json:1:1: want an object, found an array");
  CHECK(why_not("{}").find("want \"groups\", 1 to 4096 of them, found none") != std::string::npos);
  CHECK(why_not("{\"groups\": []}").find("found 0") != std::string::npos);
  CHECK(why_not("{\"protocols\": 1}") ==
        "g.json:1:2: want protocol, groups or edges, found 'protocols'");
  CHECK(why_not("{\"protocol\": \"UDP\"}") ==
        "g.json:1:14: want auto, tcp, shm or mpi, found 'UDP'");
  CHECK(why_not("{\"groups\": [{\"name\": \"A\"}]}") ==
        "g.json:1:13: want an \"endpoint\" in a group, found none");
  CHECK(why_not("{\"groups\": [{\"endpoint\": \"localhost\"}]}") ==
        "g.json:1:13: want a \"name\" in a group, found none");
  CHECK(with("\"batchsize\": 3").starts_with("g.json:2:40: want name, endpoint"));
  const std::string size = "g.json:2:53: want a whole number from 1 to 1048576, found ";
  CHECK(with("\"batchSize\": 0") == size + "0");
  CHECK(with("\"batchSize\": -1") == size + "-1");
  CHECK(with("\"batchSize\": 1.5") == size + "1.5");
  CHECK(with("\"batchSize\": \"9\"") == size + "a string");
  CHECK(with("\"messageOTF\": 0").find("from 1 to") != std::string::npos);
  CHECK(with("\"internalMessageOTF\": null").find("found null") != std::string::npos);
  CHECK(with("\"threadMapping\": [0]").find("want a string, found an array") != std::string::npos);
  CHECK(with("\"threadMapping\": \"x\"").find("numbers of cores") != std::string::npos);
  CHECK(with("\"threadMapping\": \"99999\"").find("numbers of cores, found 99999") !=
        std::string::npos);
  CHECK(with("\"name\": \"B\"") == "g.json:2:40: want each name once, found 'name' again");
}

TEST_CASE("an endpoint is a host, with a port or without") {
  const auto endpoint = [](const std::string& where) {
    return parse_groups("g.json", R"({"groups": [{"name": "A", "endpoint": ")" + where + R"("}]})");
  };
  REQUIRE(endpoint("127.0.0.1:4711").ok());
  CHECK(endpoint("127.0.0.1:4711")->groups[0].port == 4711);
  CHECK(endpoint("localhost").ok());
  CHECK(endpoint("node7:80")->groups[0].host == "node7");
  CHECK(endpoint("[::1]:80")->groups[0].host == "[::1]");
  for (const char* wrong : {"localhost:", "localhost:0", "localhost:99999", "localhost:x", ":80",
                            "local host", "-oProxyCommand", "a;b"}) {
    CHECK_FALSE(endpoint(wrong).ok());
  }
}

TEST_CASE("groups may talk by different protocols on different parts of a graph") {
  const auto file = parse_groups("g.json", R"({"protocol": "tcp", "groups": [
    {"name": "A", "endpoint": "localhost"}, {"name": "B", "endpoint": "localhost"},
    {"name": "C", "endpoint": "localhost", "protocol": "shm"}],
    "edges": [{"from": "C", "to": "A", "protocol": "auto"}]})");
  REQUIRE_MESSAGE(file.ok(), file.error().message);
  CHECK(file->between(0, 1) == Protocol::tcp);
  CHECK(file->between(1, 2) == Protocol::shm);
  CHECK(file->between(0, 2) == Protocol::automatic);

  const std::string edge = two_groups.substr(0, two_groups.size() - 1) + ", \"edges\": [";
  CHECK(why_not(edge + R"({"from": "A", "to": "X", "protocol": "tcp"}]})").find("found 'X'") !=
        std::string::npos);
  CHECK(why_not(edge + R"({"from": "A", "to": "A", "protocol": "tcp"}]})").find("found one") !=
        std::string::npos);
  CHECK(why_not(edge + R"({"from": "A", "protocol": "tcp"}]})").find("found less") !=
        std::string::npos);
  CHECK(why_not(edge + R"({"from": "A", "to": "B"}]})") ==
        "g.json:2:52: want \"protocol\", \"batchSize\" or \"messageOTF\" in an edge, found none");
  CHECK(why_not(edge + R"({"from": "A", "to": "B", "protocol": "mpi"}]})").find("whole file") !=
        std::string::npos);
}

TEST_CASE("an edge may have its own sizes, one way") {
  const auto file = parse_groups("g.json", R"({"groups": [
    {"name": "A", "endpoint": "localhost", "batchSize": 10, "messageOTF": 4, "internalMessageOTF": 9},
    {"name": "B", "endpoint": "localhost"}, {"name": "C", "endpoint": "localhost"}],
    "edges": [{"from": "A", "to": "B", "batchSize": 20},
              {"from": "B", "to": "A", "messageOTF": 2, "protocol": "tcp"}]})");
  REQUIRE_MESSAGE(file.ok(), file.error().message);
  CHECK(file->batch_items(0, 1) == 20);
  CHECK_FALSE(file->batch_items(0, 2).has_value());  // As its group has it.
  CHECK_FALSE(file->batch_items(1, 0).has_value());
  CHECK(file->on_the_way(1, 0) == 2);
  CHECK(file->on_the_way(0, 1) == 4);
  CHECK(file->on_the_way(0, 0) == 9);
  CHECK_FALSE(file->on_the_way(1, 2).has_value());
  CHECK(file->between(0, 1) == Protocol::tcp);

  const std::string edges = two_groups.substr(0, two_groups.size() - 1) + ",\n\"edges\": [";
  const std::string one = R"({"from": "A", "to": "B", "batchSize": 3}, )";
  CHECK(why_not(edges + R"({"from": "A", "to": "B", "batchSize": 0}]})") ==
        "g.json:3:49: want a whole number from 1 to 1048576, found 0");
  CHECK(why_not(edges + R"({"from": "A", "to": "B", "messageOTF": -1}]})") ==
        "g.json:3:50: want a whole number from 1 to 1048576, found -1");
  CHECK(why_not(edges + R"({"from": "A", "to": "B", "batch": 1}]})") ==
        "g.json:3:36: want from, to, protocol, batchSize or messageOTF, found 'batch'");
  CHECK(why_not(edges + one + R"({"from": "A", "to": "B", "messageOTF": 3}]})") ==
        "g.json:3:53: want one edge for two groups, found 'A' to 'B' again");
  CHECK(why_not(edges + one + R"({"from": "B", "to": "A", "messageOTF": 3}]})").empty());
}

TEST_CASE("whatever is done to a file, it is read or refused with a place") {
  Random random(9);
  for (int round = 0; round < 5'000; ++round) {
    std::string changed = figure_5;
    for (int i = 0; i < 3; ++i) {
      const std::size_t at = random.below(changed.size());
      if (random.chance(0.5))
        changed.erase(at, 1 + random.below(12));
      else
        changed[at] = "0123456789\"{}[],:-xG"[random.below(20)];
    }
    const auto groups = parse_groups("g.json", changed);
    if (!groups) CHECK(groups.error().message.starts_with("g.json:"));
  }
}
