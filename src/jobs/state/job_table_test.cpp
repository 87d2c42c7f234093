#include "jobs/state/job_table.h"

#include <doctest/doctest.h>

#include "jobs/state/cluster_fixture.h"
#include "jobs/state/job_end.h"

using namespace piracema;
using namespace piracema::jobs;
using namespace piracema::jobs::testing;

using Verdict = Answer::Verdict;

TEST_CASE("a job that its node had asked to leave has not failed, whatever the node is now") {
  Cluster cluster;
  cluster.join("a");
  const JobId id = cluster(Submit{{.name = "j", .command = {"x"}}}).job;
  Report ends{.node = "a", .incarnation = 1, .number = 1};
  ends.ended = {exited(id, 1, 75)};
  ends.ended[0].end = End::left;
  cluster(ends);
  CHECK(cluster.job(id).state == JobState::running);
  CHECK(cluster.job(id).attempt == 2);
  CHECK(cluster.job(id).failures == 0);
}

TEST_CASE("a job that is asked for runs where there is a place, and is over when it has ended") {
  Cluster cluster;
  const JobId id = cluster.submit();
  CHECK(cluster.job(id).state == JobState::waiting);
  CHECK(cluster.job(id).why == "waits for a node: there is none");
  const Answer joined = cluster.join("a");
  REQUIRE(joined.orders.size() == 1);
  CHECK(joined.orders[0].attempt == Attempt{id, 1});
  CHECK(joined.orders[0].spec->command == std::vector<std::string>{"true"});
  // What the node has is not told again.
  const Answer again = cluster.report("a", {{id, 1}});
  REQUIRE(again.orders.size() == 1);
  CHECK_FALSE(again.orders[0].spec);
  CHECK(cluster.report("a", {{id, 1}}, {exited(id, 1, 0)}).orders.empty());
  CHECK(cluster.job(id).state == JobState::done);
  CHECK(cluster.state.nodes().at("a").used == 0);
}

TEST_CASE("a job that fails is begun again as often as was asked for") {
  Cluster cluster;
  cluster.join("a");
  const JobId id = cluster.submit(1, 1);
  cluster.report("a", {}, {exited(id, 1, 7)});
  CHECK(cluster.job(id).state == JobState::waiting);
  CHECK(cluster.job(id).why == "begins again after a pause of 1 s: ended with status 7");
  cluster.pass(1'000);
  CHECK(cluster.job(id).state == JobState::running);
  CHECK(cluster.job(id).attempt == 2);
  // Said once more, of the attempt before.
  cluster.report("a", {}, {exited(id, 1, 7)});
  CHECK(cluster.job(id).failures == 1);
  cluster.report("a", {}, {exited(id, 2, 7)});
  CHECK(cluster.job(id).state == JobState::failed);
  CHECK(cluster.job(id).code == 7);
  CHECK(cluster.job(id).why == "ended with status 7");
}

TEST_CASE(
    "a job that fails at once each time pauses longer and longer, and keeps nobody from a place") {
  Cluster cluster;
  cluster.join("a");
  const JobId id = cluster.submit(2, 20);
  std::vector<std::uint64_t> pauses;
  for (std::uint32_t attempt = 1; attempt <= 9; ++attempt) {
    cluster.report("a", {}, {exited(id, attempt, 1)});
    REQUIRE(cluster.job(id).state == JobState::waiting);
    const std::uint64_t since = cluster.clock;
    if (attempt == 9) break;
    while (cluster.job(id).state == JobState::waiting) {
      cluster.pass(100);
      cluster.report("a");
    }
    pauses.push_back((cluster.clock - since) / 1'000);
  }
  CHECK(pauses == std::vector<std::uint64_t>{1, 2, 4, 8, 16, 32, 60, 60});
  const JobId other = cluster.submit(2);
  CHECK(cluster.job(other).state == JobState::running);
  cluster(Cancel{id});
  CHECK(cluster.job(id).state == JobState::cancelled);
}

TEST_CASE("what is cancelled ends, and is not begun again") {
  Cluster cluster;
  const JobId waits = cluster.submit();
  CHECK(cluster(Cancel{waits}).verdict == Verdict::done);
  CHECK(cluster.job(waits).state == JobState::cancelled);
  CHECK(cluster.job(waits).why == "cancelled before it began");
  CHECK(cluster(Cancel{waits}).why == "job 1 is over");
  cluster.join("a");
  const JobId runs = cluster.submit(1, 5);
  cluster(Cancel{runs});
  const Answer told = cluster.report("a");
  REQUIRE(told.orders.size() == 1);
  CHECK(told.orders[0].leave);
  cluster.report("a", {}, {exited(runs, 1, 143)});
  CHECK(cluster.job(runs).state == JobState::cancelled);
  const JobId fails = cluster.submit(1, 5);
  cluster.report("a", {}, {exited(fails, 1, 3)});
  CHECK(cluster(Cancel{fails}).verdict == Verdict::done);
  CHECK(cluster.job(fails).why == "cancelled before it began again");
  CHECK(cluster(Cancel{99}).why == "there is no job 99");
}

TEST_CASE("what a job says is kept once, and the last of it") {
  Cluster cluster;
  cluster.join("a");
  const JobId id = cluster.submit();
  const auto say = [&](std::uint64_t from, const std::string& text) {
    cluster(Report{.node = "a", .incarnation = 1, .said = {{{id, 1}, from, text}}});
  };
  say(0, "one ");
  say(0, "one two ");
  say(4, "two ");
  CHECK(cluster.job(id).output == "one two ");
  say(8, std::string(output_bytes_max, 'x'));
  CHECK(cluster.job(id).output == std::string(output_bytes_max, 'x'));
  CHECK(cluster.job(id).output_before == 8);
  say(100'000, "after a gap");
  CHECK(cluster.job(id).output == "after a gap");
  CHECK(cluster.job(id).output_before == 100'000);
}

TEST_CASE("a job that brings its nodes down again and again fails") {
  Cluster cluster;
  const JobId id = cluster.submit();
  for (std::uint64_t i = 1; i <= losses_max; ++i) {
    CHECK(cluster.join("a", i).verdict == Verdict::done);
    cluster.pass(lease_ms);
  }
  CHECK(cluster.job(id).state == JobState::failed);
}

TEST_CASE("jobs that are over are forgotten, the oldest first") {
  Cluster cluster;
  for (std::size_t i = 0; i < JobTable::over_max + 10; ++i) cluster(Cancel{cluster.submit()});
  CHECK(cluster.state.jobs().size() == JobTable::over_max);
  CHECK(cluster.state.jobs().begin()->first == 11);
}
