#include "flow/groups.h"

#include <doctest/doctest.h>
#include <piracema/blocks.h>
#include <piracema/groups.h>
#include <piracema/sequence.h>

#include <string>

using namespace piracema;
using namespace piracema::flow;

namespace {

/// The program of paper 004, Fig. 5: a source, an all-to-all of 2 and 4 workers, a sink.
Graph figure_5() {
  const auto same = [](const std::int64_t& n) { return n; };
  return pipeline(source("Sc", Sequence{1, 10}), farm("L", 2, same), farm("R", 4, same),
                  sink("Sk", [](const std::int64_t&) {}));
}

Result<std::vector<std::uint32_t>> check(const Graph& program) {
  return check_groups(program.shape, make_plan(program.shape), program.groups);
}

std::string why_not(const Graph& program) {
  const auto checked = check(program);
  return checked ? "" : checked.error().message;
}

}  // namespace

TEST_CASE("the four groups of the paper's figure 5 are what they say") {
  Graph program = figure_5();
  createGroup(program, "G1", {"Sc"});
  createGroup(program, "G2", {"L", "R"}) << "L/0"
                                         << "R/0"
                                         << "R/1";
  createGroup(program, "G3", {"L", "R"}) << "L/1"
                                         << "R/2"
                                         << "R/3";
  createGroup(program, "G4", {"Sk"});
  const auto groups = check(program);
  REQUIRE(groups.ok());
  CHECK(*groups == std::vector<std::uint32_t>{0, 1, 2, 1, 1, 2, 2, 3});
}

TEST_CASE("a pipeline is cut into stages that follow each other, figure 3") {
  Graph program = figure_5();
  createGroup(program, "G1") << "Sc"
                             << "L";
  createGroup(program, "G2") << "R"
                             << "Sk";
  const auto groups = check(program);
  REQUIRE(groups.ok());
  CHECK(*groups == std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1, 1, 1});
}

TEST_CASE("a group that nothing is included in has all of its brick") {
  Graph program = figure_5();
  createGroup(program, "all");
  REQUIRE(check(program).ok());
  CHECK(*check(program) == std::vector<std::uint32_t>(8, 0));
}

TEST_CASE("a farm is cut as well, which the paper leaves to the future") {
  Graph program = figure_5();
  createGroup(program, "G1") << "Sc"
                             << "L"
                             << "R/0"
                             << "R/1";
  createGroup(program, "G2") << "R/2"
                             << "R/3"
                             << "Sk";
  REQUIRE(check(program).ok());
  CHECK(*check(program) == std::vector<std::uint32_t>{0, 0, 0, 0, 0, 1, 1, 1});
}

TEST_CASE("what breaks a rule of figure 6 is refused by the name of group and brick") {
  Graph program = figure_5();
  createGroup(program, "G1", {"Sc"});

  SUBCASE("line 2: a name that is taken") {
    createGroup(program, "G1", {"Sk"});
    CHECK(why_not(program) == "group 'G1': there is a group of that name already");
  }
  SUBCASE("line 4: a second group of a node") {
    createGroup(program, "G2", {"Sc"});
    CHECK(why_not(program) ==
          "group 'G2': brick 'Sc' is a single node, of which one group can be created, and that is "
          "'G1'");
  }
  SUBCASE("line 6: a brick that lies too deep") {
    createGroup(program, "G2", {"R/1"});
    CHECK(why_not(program).starts_with("group 'G2': brick 'R/1' is at level 2"));
  }
  SUBCASE("line 8: the whole program after a part of it") {
    createGroup(program, "G2") << "L";
    CHECK(why_not(program) ==
          "group 'G2': it is created from the whole program, but group 'G1' from a part of it, "
          "'Sc'");
  }
  SUBCASE("line 13: a brick of another parent") {
    createGroup(program, "G2", {"L"}) << "R/1";
    CHECK(why_not(program) ==
          "group 'G2': brick 'R/1' is no part of what the group was created from");
  }
  SUBCASE("line 15: a brick of another group") {
    createGroup(program, "G2", {"L", "R"}) << "L/1";
    createGroup(program, "G3", {"L", "R"}) << "R"
                                           << "L";
    CHECK(why_not(program) == "group 'G3': brick 'L/1' is in group 'G2' already");
  }
  SUBCASE("a brick that there is not") {
    createGroup(program, "G2", {"X"});
    CHECK(why_not(program) == "group 'G2': there is no brick 'X' in the program");
    program.groups.back() = {"G2", {"L"}, {"L/7"}};
    CHECK(why_not(program) == "group 'G2': there is no brick 'L/7' in the program");
  }
  SUBCASE("a name that is none") {
    createGroup(program, "", {"L"});
    CHECK(why_not(program).find("a name has to be of letters") != std::string::npos);
  }
  SUBCASE("a brick that is left out") {
    createGroup(program, "G2", {"L", "R"}) << "L"
                                           << "R/0"
                                           << "R/1"
                                           << "R/3";
    createGroup(program, "G3", {"Sk"});
    CHECK(why_not(program) == "groups: brick 'R/2' is in no group; every brick has to be in one");
  }
}

TEST_CASE("line 20: stages of a pipeline that do not follow each other are refused") {
  Graph program = figure_5();
  createGroup(program, "G1") << "Sc"
                             << "R";
  CHECK(why_not(program) ==
        "group 'G1': bricks 'Sc' and 'R' do not follow each other; the parts of a pipeline in one "
        "group have to");
}
