#include "jobs/protocol/operations.h"

#include <doctest/doctest.h>

#include "jobs/state/cluster_fixture.h"

using namespace piracema;
using namespace piracema::jobs;
using namespace piracema::jobs::testing;

TEST_CASE("what cannot be a job is refused with what was wanted") {
  Cluster cluster;
  const auto why = [&](const JobSpec& spec) { return cluster(Submit{spec}).why; };
  CHECK(why({.name = "a b", .command = {"x"}}).starts_with("want a name of 1 to 64 letters"));
  CHECK(why({.name = "a"}) == "want a program to run, found none");
  CHECK(why({.name = "a", .command = {"x"}, .slots = 0}) == "want 1 to 65536 slots, found 0");
  CHECK(why({.name = "a", .command = {"x"}, .nodes = 0}) == "want 1 to 1000 nodes, found 0");
  CHECK(why({.name = "a", .command = {"x"}, .nodes = 2, .node = "b"}) ==
        "want one node of a name, found 2 nodes and 'b'");
  CHECK(why({.name = "a", .command = {"x"}, .directory = "here"}) ==
        "want an absolute path for its directory, found 'here'");
  CHECK(why({.name = "a", .command = {"x"}, .environment = {"X"}}) == "want NAME=value, found 'X'");
  CHECK(why({.name = "a", .command = {std::string(words_bytes_max, 'x')}})
            .starts_with("want at most 65536 bytes"));
}

TEST_CASE("an answer of another version of the protocol is named as one") {
  const Buffer first(as_bytes(std::string_view("\3\0", 2)));
  CHECK(decode_answer(first).error().message ==
        "want an answer of the control plane of version 9, found 1: all machines want the same "
        "piracema");
}

TEST_CASE("what nodes said before they told of the room in their homes is understood") {
  const std::size_t full_bytes = 1;
  const Buffer join =
      encode(Operation(Join{.node = "a", .incarnation = 7, .slots = 2, .kind = "x", .full = true}));
  const Buffer report = encode(
      Operation(Report{.node = "a", .incarnation = 7, .number = 3, .has = {{1, 2}}, .full = true}));
  CHECK(std::get<Join>(*decode_operation(join)).full);
  CHECK(std::get<Report>(*decode_operation(report)).full);
  const auto join_before = decode_operation(Bytes(join).first(join.size() - full_bytes));
  REQUIRE(join_before.ok());
  CHECK(std::get<Join>(*join_before).kind == "x");
  CHECK_FALSE(std::get<Join>(*join_before).full);
  const std::size_t kept_bytes = 1, later_bytes = full_bytes + kept_bytes;
  const auto report_before = decode_operation(Bytes(report).first(report.size() - later_bytes));
  REQUIRE(report_before.ok());
  CHECK(std::get<Report>(*report_before).number == 3);
  CHECK(std::get<Report>(*report_before).has.size() == 1);
  CHECK_FALSE(std::get<Report>(*report_before).full);
  CHECK_FALSE(decode_operation(Bytes(report).first(report.size() - later_bytes - 1)).ok());
  CHECK_FALSE(decode_operation(Bytes(join).first(join.size() - full_bytes - 1)).ok());
}

TEST_CASE("what nodes said before they told of jobs that stand still is understood") {
  const Buffer report = encode(Operation(Report{.node = "a",
                                                .incarnation = 7,
                                                .number = 3,
                                                .lent = {false, 9, "why", Kept::stands_still},
                                                .full = true}));
  CHECK(std::get<Report>(*decode_operation(report)).lent.kept == Kept::stands_still);
  const auto before = decode_operation(Bytes(report).first(report.size() - 1));
  REQUIRE(before.ok());
  CHECK(std::get<Report>(*before).full);
  CHECK(std::get<Report>(*before).lent.why == "why");
  CHECK(std::get<Report>(*before).lent.kept == Kept::nothing);
}

TEST_CASE(
    "a node that joined before machines had kinds is understood, and one that is cut is not") {
  const Buffer now =
      encode(Operation(Join{.node = "a", .incarnation = 7, .slots = 2, .kind = "x", .site = "y"}));
  const auto read = decode_operation(now);
  REQUIRE(read.ok());
  CHECK(std::get<Join>(*read).kind == "x");
  CHECK(std::get<Join>(*read).site == "y");
  // The lengths of both, and both, and whether it is full.
  const std::size_t kind_bytes = 19;
  const auto before = decode_operation(Bytes(now).first(now.size() - kind_bytes));
  REQUIRE(before.ok());
  CHECK(std::get<Join>(*before).node == "a");
  CHECK(std::get<Join>(*before).kind.empty());
  CHECK_FALSE(decode_operation(Bytes(now).first(now.size() - kind_bytes - 1)).ok());
  CHECK_FALSE(decode_operation(Bytes(now).first(now.size() - 2)).ok());
}

TEST_CASE("what a machine is like is a few visible letters") {
  CHECK(is_label(""));
  CHECK(is_label("x86_64 cpu-5b21e0c4 glibc-2.36"));
  CHECK_FALSE(is_label("two\nlines"));
  CHECK_FALSE(is_label(std::string(label_bytes_max + 1, 'x')));
}
