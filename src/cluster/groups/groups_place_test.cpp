#include "cluster/groups/groups_place.h"

#include <doctest/doctest.h>
#include <piracema/blocks.h>
#include <piracema/groups.h>
#include <piracema/sequence.h>

#include <algorithm>

using namespace piracema;
using namespace piracema::cluster;

namespace {

Graph three_stages() {
  return pipeline(source("read", Sequence{1, 10}),
                  farm("work", 4, [](const std::int64_t& n) { return n; }),
                  sink("write", [](const std::int64_t&) {}));
}

Result<std::vector<Slot>> placed(const Graph& program, const std::string& text) {
  const auto groups = parse_groups("g.json", text);
  REQUIRE(groups.ok());
  return place_groups("g.json", *groups, program.shape, program.groups);
}

const std::string groups_a_and_b =
    "{\"groups\": [{\"name\": \"A\", \"endpoint\": \"localhost\"},\n"
    "{\"name\": \"B\", \"endpoint\": \"localhost\"}]}";

}  // namespace

TEST_CASE("groups of a program and of a file have to be the same") {
  Graph program = three_stages();
  createGroup(program, "B", {"write"});
  createGroup(program, "A") << "read"
                            << "work";
  CHECK(placed(program, groups_a_and_b).error().message.find("created from the whole program") !=
        std::string::npos);
  program.groups = {{"A", {"read", "work"}, {}}, {"B", {"write"}, {}}};
  REQUIRE(placed(program, groups_a_and_b).ok());
  CHECK(*placed(program, groups_a_and_b) == std::vector<Slot>{0, 0, 0, 0, 0, 1});

  program.groups[0].name = "C";
  CHECK(placed(program, groups_a_and_b).error().message ==
        "g.json:1:1: want group 'C', which the program has, found none of that name");
  program.groups = {{"A", {}, {}}};
  CHECK(placed(program, groups_a_and_b).error().message ==
        "g.json:2:10: want a group of the program (A), found 'B'");
}

TEST_CASE("a program without groups is spread over those of the file") {
  const auto placement = placed(three_stages(), groups_a_and_b);
  REQUIRE(placement.ok());
  CHECK(std::count(placement->begin(), placement->end(), Slot{0}) == 3);
  CHECK(std::count(placement->begin(), placement->end(), Slot{1}) == 3);
}

TEST_CASE(
    "such a program is spread by what its nodes had to do in an earlier run, if that is known") {
  const Graph program = three_stages();
  const auto groups = parse_groups("g.json", groups_a_and_b);
  REQUIRE(groups.ok());
  // The source has as much to do as all workers together.
  const auto placement = place_groups("g.json", *groups, program.shape, {},
                                      {{{"read", 8.0}, {"work", 8.0}, {"write", 0.0}}, {}});
  REQUIRE(placement.ok());
  for (std::size_t worker = 1; worker <= 4; ++worker)
    CHECK((*placement)[worker] != (*placement)[0]);
  CHECK_FALSE(place_groups("g.json", *groups, program.shape, {}, {{{"read", 8.0}}, {}}).ok());
}

TEST_CASE("such a program goes from host to host as seldom as it can") {
  const auto groups = parse_groups("g.json", R"({"groups": [
      {"name": "A", "endpoint": "h1"}, {"name": "B", "endpoint": "h2"},
      {"name": "C", "endpoint": "h1"}, {"name": "D", "endpoint": "h2"}]})");
  REQUIRE(groups.ok());
  GraphShape shape;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const Role role = i == 0 ? Role::source : i == 3 ? Role::sink : Role::middle;
    shape.nodes.push_back({.name = std::to_string(i), .role = role});
    if (i != 0) shape.edges.push_back({.from = i - 1, .to = i});
  }
  const auto placement = place_groups("g.json", *groups, shape, {});
  REQUIRE(placement.ok());
  const auto host = [&](std::size_t replica) { return (*placement)[replica] % 2; };
  CHECK(host(0) == host(1));
  CHECK(host(2) == host(3));
  CHECK(host(1) != host(2));
}
