#include "jobs/protocol/history.h"

#include <doctest/doctest.h>

#include "jobs/state/cluster_fixture.h"

using namespace piracema;
using namespace piracema::jobs;
using Kind = Event::Kind;

namespace {

/// Two nodes.
struct Night : jobs::testing::Cluster {
  Night() {
    join("a");
    join("b");
  }
  /// Only that node is heard of.
  void pass(std::uint64_t ms, const std::string& heard) {
    for (const std::uint64_t until = clock + ms; clock < until;) {
      clock += 500;
      report(heard);
      state.on_time({.time = clock * 1'000'000});
    }
  }
  /// What has happened since both were there, about that node or job.
  std::vector<Kind> kinds() const {
    std::vector<Kind> all;
    for (const Event& event : state.history().from(3)) all.push_back(event.kind);
    return all;
  }
};

}  // namespace

TEST_CASE("a job that begins once and ends well is nothing to be told of") {
  Night night;
  const JobId id = night(Submit{{.name = "j", .command = {"true"}}}).job;
  const std::string node = night.state.jobs().at(id).node;
  night(Report{.node = node, .incarnation = 1, .ended = {{{id, 1}, End::exited, 0, "ended"}}});
  CHECK(night.state.jobs().at(id).state == JobState::done);
  CHECK(night.kinds().empty());
}

TEST_CASE("a night with a lost node is told from its silence to where its job goes on") {
  Night night;
  const JobId id = night(Submit{{.name = "j", .command = {"true"}}}).job;
  const std::string lost = night.state.jobs().at(id).node, other = lost == "a" ? "b" : "a";
  night.pass(6'000, other);
  REQUIRE(night.kinds() ==
          std::vector{Kind::node_lost, Kind::job_lost_node, Kind::job_began_again});
  const auto events = night.state.history().from(3);
  CHECK(events[0].node == lost);
  CHECK(events[0].why == "not heard of for 5000 ms");
  CHECK(events[1].job == id);
  CHECK(events[1].user == "admin");
  CHECK(events[1].node == lost);
  CHECK(events[2].node == other);
  CHECK(events[2].attempt == 2);
  CHECK(events[2].at_ms == 1'005'000);
  night.report(lost);
  CHECK(night.kinds().back() == Kind::node_returned);
}

TEST_CASE("failures, moves and what people do are told") {
  Night night;
  const JobId id = night(Submit{{.name = "j", .command = {"true"}, .retries = 1}}).job;
  const std::string node = night.state.jobs().at(id).node;
  night(Report{.node = node, .incarnation = 1, .ended = {{{id, 1}, End::exited, 3, "status 3"}}});
  night.pass(2'000, "a");
  night(Drain{night.state.jobs().at(id).node, true});
  night(Drain{night.state.jobs().at(id).node, true});
  night(Drain{night.state.jobs().at(id).node, false});
  night(Cancel{id});
  night(Report{.node = night.state.jobs().at(id).node,
               .incarnation = 1,
               .ended = {{{id, 2}, End::exited, 143, "SIGTERM"}}});
  night(PutUser{{"alice", 77, Role::submit, "al"}});
  night(DropUser{"alice"});
  night(DropUser{"alice"});
  CHECK(night.kinds() == std::vector{Kind::job_failed, Kind::job_began_again, Kind::node_drains,
                                     Kind::job_moves, Kind::node_undrained, Kind::job_over,
                                     Kind::user_put, Kind::user_dropped});
  CHECK(night.state.history().from(3)[6].why == "role submit, account al");
}

TEST_CASE("a machine that is lent and wanted back is told") {
  Night night;
  night(Report{.node = "a",
               .incarnation = 1,
               .number = 1,
               .lent = {.open = false, .closes_in_ms = 0, .why = "as its user is there"}});
  night(Report{.node = "a", .incarnation = 1, .number = 2});
  REQUIRE(night.kinds() == std::vector{Kind::node_closed, Kind::node_opened});
  CHECK(night.state.history().from(3)[0].why == "as its user is there");
}

TEST_CASE(
    "whoever waits for what happens is told at the first event, and the last are remembered") {
  Night night;
  const auto seen = *decode_answer(night.state.query(encode(Operation(ListEvents{0}))));
  REQUIRE(seen.events.size() == 2);
  CHECK(seen.mark == 2);
  const Operation await = AwaitEvents{seen.mark + 1, seen.now_ms};
  CHECK_FALSE(night.state.has_news(night.state.query(encode(await))));
  night(Drain{"a", true});
  const Buffer reply = night.state.query(encode(await));
  CHECK(night.state.has_news(reply));
  CHECK(decode_answer(reply)->events.at(0).kind == Kind::node_drains);
  for (std::size_t i = 0; i < History::events_max; ++i) night(Drain{"b", i % 2 == 0});
  CHECK(night.state.history().from(0).size() == History::events_max);
  CHECK(night.state.history().last() == 3 + History::events_max);
}

TEST_CASE("a replica that comes late tells the same") {
  Night night;
  night(Drain{"a", true});
  ClusterState other;
  REQUIRE(other.restore(smr::bytes_of(night.state.snapshot())));
  CHECK(as_text(smr::bytes_of(other.snapshot())) == as_text(smr::bytes_of(night.state.snapshot())));
  CHECK(other.history().last() == 3);
}

TEST_CASE("events that are out of order are no history") {
  History history;
  CHECK_FALSE(history.replace({{.number = 2}, {.number = 4}}));
  CHECK(history.replace({{.number = 7}, {.number = 8}}));
  history.add({});
  CHECK(history.last() == 9);
}
