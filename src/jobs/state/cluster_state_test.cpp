#include "jobs/state/cluster_state.h"

#include <doctest/doctest.h>

#include <random>

#include "jobs/state/cluster_fixture.h"

using namespace piracema;
using namespace piracema::jobs;
using namespace piracema::jobs::testing;

using Verdict = Answer::Verdict;

TEST_CASE(
    "the jobs of a node that is not heard of begin elsewhere, and what it says of them is "
    "nothing") {
  Cluster cluster;
  cluster.join("a");
  const JobId id = cluster.submit();
  cluster.join("b");
  for (int i = 0; i < 12; ++i) {
    cluster.pass(500);
    (void)cluster(Report{.node = "b", .incarnation = 1});
  }
  CHECK(cluster.job(id).node == "b");
  CHECK(cluster.job(id).attempt == 2);
  CHECK(cluster.job(id).losses == 1);
  CHECK_FALSE(cluster.state.nodes().at("a").alive);
  CHECK(cluster.report("a", {{id, 1}}, {exited(id, 1, 0)}).orders.empty());
  CHECK(cluster.job(id).state == JobState::running);
  CHECK(cluster.state.nodes().at("a").alive);
}

TEST_CASE("a time in which nobody was there to hear of nodes does not end their leases") {
  Cluster cluster;
  cluster.join("a");
  const JobId id = cluster.submit();
  // No majority for an hour, or another leader's clock is ahead.
  cluster.clock += 3'600'000;
  cluster.state.on_time({.time = cluster.clock * 1'000'000});
  CHECK(cluster.job(id).losses == 0);
  CHECK(cluster.report("a").verdict == Verdict::done);
}

TEST_CASE("of two processes with the name of a node the first one has it while it is heard") {
  Cluster cluster;
  cluster.join("a", 1);
  CHECK(cluster.join("a", 2).verdict == Verdict::refused);
  cluster.pass(lease_ms);
  const JobId id = cluster.submit();
  CHECK(cluster.join("a", 2).verdict == Verdict::done);
  CHECK(cluster.job(id).node == "a");
  CHECK(cluster(Report{.node = "a", .incarnation = 1}).verdict == Verdict::stranger);
}

TEST_CASE("a node that drains gives its jobs to others without a failure of theirs") {
  Cluster cluster;
  cluster.join("a");
  const JobId id = cluster.submit();
  cluster.join("b");
  CHECK(cluster(Drain{"a", true}).verdict == Verdict::done);
  CHECK(cluster.report("a").orders[0].leave);
  cluster.report("a", {}, {exited(id, 1, 75)});
  CHECK(cluster.job(id).node == "b");
  CHECK(cluster.job(id).failures == 0);
  // One that was done before it heard of it is done.
  cluster(Drain{"b", true});
  cluster.report("b", {}, {exited(id, 2, 0)});
  CHECK(cluster.job(id).state == JobState::done);
  CHECK(cluster(Drain{"z", true}).why == "there is no node 'z'");
}

TEST_CASE(
    "a node that is not lent any more gives its jobs to others, and gets some when it is again") {
  Cluster cluster;
  cluster.join("a");
  const JobId id = cluster.submit();
  cluster.join("b");
  Report closes{.node = "a", .incarnation = 1, .number = 2};
  closes.lent = {.open = false, .why = "its user is there"};
  CHECK(cluster(closes).orders.at(0).leave);
  // A report that was sent before says nothing any more.
  Report late = closes;
  late.number -= 1;
  late.lent = {};
  cluster(late);
  CHECK_FALSE(cluster.state.nodes().at("a").lent.open);
  closes.number += 1;
  closes.ended = {exited(id, 1, 143)};
  cluster(closes);
  CHECK(cluster.job(id).node == "b");
  CHECK(cluster.job(id).failures == 0);
  const JobId other = cluster(Submit{{.name = "j", .command = {"x"}, .node = "a"}}).job;
  CHECK(cluster.job(other).why ==
        "waits for a node of 1 slot that is there: a is not lent now, its user is there");
  closes.number += 1;
  closes.ended.clear();
  closes.lent = {.closes_in_ms = 60'000};
  cluster(closes);
  CHECK(cluster.job(other).node == "a");
}

namespace {

/// A job that can stand still, and a stream, on a machine whose user has come; and another node.
struct UserIsThere : Cluster {
  JobId still = 0, stream = 0;
  std::vector<Attempt> has;

  UserIsThere() {
    join("a", 1, 4);
    still = submit();
    stream =
        (*this)(Submit{{.name = "s", .command = {"x"}, .environment = {never_suspended_variable}}})
            .job;
    has = {{still, 1}, {stream, 1}};
    join("b");
    told({.open = false,
          .closes_in_ms = 40'000,
          .why = "its user is there",
          .kept = Kept::stands_still});
  }
  Answer told(const Lent& lent, std::vector<Ended> ended = {}) {
    return (*this)(
        Report{.node = "a", .incarnation = 1, .lent = lent, .has = has, .ended = std::move(ended)});
  }
  std::string events() const {
    std::string all;
    for (const Event& event : state.history().from(1)) {
      if (event.job == still) all += std::string(name_of(event.kind)) + " ";
    }
    return all;
  }
};

const Lent user_has_gone{.open = false, .why = "as it is not idle", .kept = Kept::goes_on};
const Lent user_stays{.open = false, .why = "its user is there"};

}  // namespace

TEST_CASE("where a user comes back a job stands still that can, and a stream leaves") {
  UserIsThere cluster;
  CHECK(cluster.job(cluster.stream).state == JobState::leaving);
  CHECK(cluster.job(cluster.still).state == JobState::running);
  CHECK(is_suspended(cluster.job(cluster.still)));
  CHECK(cluster.job(cluster.still).leaves_ms == cluster.clock + 40'000);
  CHECK(cluster.events() == "job_suspended ");
  // Nothing begins there, though there is room.
  const JobId other = cluster(Submit{{.name = "j", .command = {"x"}, .node = "a"}}).job;
  CHECK(cluster.job(other).state == JobState::waiting);
  SUBCASE("he goes, and it goes on where it was") {
    const Answer answer = cluster.told(user_has_gone);
    CHECK_FALSE(answer.orders.at(0).leave);
    CHECK_FALSE(is_suspended(cluster.job(cluster.still)));
    CHECK(cluster.events() == "job_suspended job_resumed ");
    CHECK(cluster.job(other).state == JobState::waiting);
    cluster.told({});
    CHECK(cluster.job(other).state == JobState::running);
    CHECK(cluster.job(cluster.still).attempt == 1);
  }
  SUBCASE("he stays, and it leaves") {
    const Answer answer = cluster.told(user_stays);
    CHECK(answer.orders.at(0).leave);
    CHECK(cluster.job(cluster.still).state == JobState::leaving);
    CHECK_FALSE(is_suspended(cluster.job(cluster.still)));
    cluster.told(user_stays, {exited(cluster.still, 1, 143)});
    CHECK(cluster.job(cluster.still).node == "b");
    CHECK_FALSE(is_suspended(cluster.job(cluster.still)));
    CHECK(cluster.job(cluster.still).failures == 0);
  }
  SUBCASE("it is cancelled") {
    cluster(Cancel{cluster.still});
    CHECK_FALSE(is_suspended(cluster.job(cluster.still)));
    CHECK(cluster.told(user_stays).orders.at(0).leave);
  }
  SUBCASE("the node drains") {
    cluster(Drain{"a", true});
    CHECK(cluster.job(cluster.still).state == JobState::leaving);
  }
  SUBCASE("the node is not heard of any more") {
    cluster.pass(lease_ms / 2);
    cluster.report("b");
    cluster.pass(lease_ms / 2 + 1);
    CHECK(cluster.job(cluster.still).node == "b");
    CHECK_FALSE(is_suspended(cluster.job(cluster.still)));
  }
}

TEST_CASE("on a node whose home is full nothing begins, and what runs stays") {
  Cluster cluster;
  cluster.join("a");
  const JobId runs = cluster.submit();
  const auto full = [&](bool is) {
    return cluster(Report{.node = "a", .incarnation = 1, .has = {{runs, 1}}, .full = is});
  };
  const Answer answer = full(true);
  REQUIRE(answer.orders.size() == 1);
  CHECK_FALSE(answer.orders[0].leave);
  CHECK(cluster.job(runs).state == JobState::running);
  const JobId waits = cluster.submit();
  CHECK(cluster.job(waits).why ==
        "waits for a node of 1 slot that is there: a has no room in its home");
  // It is heard of all the time, and has as much to do as before.
  CHECK(full(true).mark == answer.mark);
  SUBCASE("until it has room") {
    CHECK(full(false).orders.size() == 2);
    CHECK(cluster.job(waits).state == JobState::running);
  }
  SUBCASE("and what was on its way there comes back, and has neither failed nor lost a node") {
    full(false);
    CHECK(cluster.job(waits).node == "a");
    cluster(Report{.node = "a",
                   .incarnation = 1,
                   .has = {{runs, 1}, {waits, 1}},
                   .ended = {{{waits, 1}, End::left, 127, "no room"}},
                   .full = true});
    CHECK(cluster.job(waits).state == JobState::waiting);
    CHECK(cluster.job(waits).failures == 0);
    CHECK(cluster.job(waits).losses == 0);
    cluster.join("b");
    CHECK(cluster.job(waits).node == "b");
  }
  SUBCASE("and it says so when it comes back") {
    cluster(Leave{"a", 1});
    cluster(Join{.node = "a", .incarnation = 2, .slots = 2, .full = true});
    CHECK(cluster.job(runs).state == JobState::waiting);
  }
  std::vector<Event::Kind> kinds;
  for (const Event& event : cluster.state.history().from(0)) kinds.push_back(event.kind);
  CHECK(std::count(kinds.begin(), kinds.end(), Event::Kind::node_full) >= 1);
}

TEST_CASE("a node is forgotten once it is gone and no job has places there") {
  Cluster cluster;
  cluster.join("a");
  const JobId id = cluster.submit();
  CHECK(cluster(Forget{"a"}).why ==
        "the node a is there: want one that has ended, or was not heard of for 5000 ms");
  CHECK(cluster.state.nodes().contains("a"));
  cluster.pass(lease_ms);
  CHECK(cluster.job(id).state == JobState::waiting);
  CHECK(cluster(Forget{"a"}).verdict == Verdict::done);
  CHECK(cluster.state.nodes().empty());
  CHECK(cluster.job(id).why == "waits for a node: there is none");
  // Once more, or of a node that never was: there is nothing to do.
  CHECK(cluster(Forget{"a"}).verdict == Verdict::done);
  // A process of it that lives has to join anew, and is a node like any other then.
  CHECK(cluster.report("a", {{id, 1}}).verdict == Verdict::stranger);
  CHECK(cluster.join("a").orders.size() == 1);
  CHECK(cluster.job(id).attempt == 2);
}

TEST_CASE("a lost node stays known as long as a job of several nodes has places there") {
  Cluster cluster;
  cluster.join("a");
  cluster.join("b");
  const Answer asked = cluster(Submit{{.name = "j", .command = {"true"}, .nodes = 2, .slots = 1}});
  const std::string other = cluster.job(asked.job).others.front();
  const std::string first = cluster.job(asked.job).node;
  for (std::uint64_t waited = 0; waited <= lease_ms; waited += 1'000) {
    cluster.pass(1'000);
    cluster.report(first, {{asked.job, 1}});
  }
  REQUIRE_FALSE(cluster.state.nodes().at(other).alive);
  REQUIRE(cluster.job(asked.job).state == JobState::running);
  CHECK(cluster(Forget{other}).why == "job 1 has places on the node " + other +
                                          ": want one that no job has, so cancel it or wait for "
                                          "its end");
  cluster.report(first, {}, {exited(asked.job, 1, 0)});
  CHECK(cluster(Forget{other}).verdict == Verdict::done);
}

TEST_CASE("whoever follows a job is told once there is something new of it") {
  Cluster cluster;
  const JobId id = cluster.submit();
  const auto look = [&](std::uint64_t mark, std::uint64_t now_ms) {
    const Buffer reply = cluster.state.query(encode(Operation(AwaitJob{id, mark, now_ms})));
    const auto answer = decode_answer(reply);
    REQUIRE(answer.ok());
    CHECK(cluster.state.has_news(reply) == (answer->mark != 0));
    return *answer;
  };
  const Answer first = look(0, 0);
  CHECK(first.jobs.at(0).state == JobState::waiting);
  CHECK(look(first.mark, first.now_ms).mark == 0);
  cluster.join("a");
  const Answer runs = look(first.mark, first.now_ms);
  CHECK(runs.jobs.at(0).state == JobState::running);
  // A replica that is behind what was told has no news.
  CHECK(look(first.mark, runs.now_ms + 1).mark == 0);
  Report says{.node = "a", .incarnation = 1, .number = 1, .has = {{id, 1}}};
  const auto before = cluster.state.changes();
  cluster(says);
  CHECK(cluster.state.changes() == before);  // A lease is renewed: nobody need look again.
  says.number += 1;
  says.said = {{{id, 1}, 0, "hello"}};
  cluster(says);
  CHECK(cluster.state.changes() != before);
  const Answer said = look(runs.mark, runs.now_ms);
  CHECK(said.jobs.at(0).output == "hello");
  CHECK(look(said.mark, said.now_ms).mark == 0);
  const Buffer none = cluster.state.query(encode(Operation(AwaitJob{99, 0, 0})));
  CHECK(cluster.state.has_news(none));
  CHECK(decode_answer(none)->why == "there is no job 99");
}

TEST_CASE("a node that was dismissed may come again with another key") {
  Cluster cluster;
  cluster.join("a");
  cluster(Leave{"a", 1});
  CHECK(cluster.ask(77, Join{"a", 2, 2, "/d", ""}).verdict == Verdict::refused);
  cluster(Forget{"a"});
  CHECK(cluster.ask(77, Join{"a", 2, 2, "/d", ""}).verdict == Verdict::done);
}

TEST_CASE("bytes that are no operation change nothing and are answered") {
  Cluster cluster;
  cluster.join("a");
  std::mt19937_64 random(1);
  const Buffer bytes = encode(Operation(Report{.node = "a",
                                               .incarnation = 1,
                                               .has = {{1, 1}},
                                               .ended = {exited(1, 1, 0)},
                                               .said = {{{1, 1}, 0, "text"}},
                                               .wants = {{1, 1, 1}},
                                               .asks = {{{1, 1, 1}, "a", {"x"}, ""}}}));
  for (int i = 0; i < 5'000; ++i) {
    Buffer changed(bytes);
    changed.data()[random() % changed.size()] = static_cast<std::byte>(random());
    changed.resize(random() % (changed.size() + 1));
    const smr::Context context{.client = client_of("a")};
    CHECK(decode_answer(cluster.state.apply(changed, context)).ok());
    CHECK(decode_answer(cluster.state.query(changed)).ok());
  }
}

TEST_CASE("that a window closes at the time that is known is no news, and another time is") {
  Cluster cluster;
  cluster.join("a");
  std::uint64_t number = 10;
  const auto closes_in = [&](std::uint64_t ms) {
    const auto before = cluster.state.changes();
    Report report{.node = "a", .incarnation = 1, .number = number++};
    report.lent.closes_in_ms = ms;
    cluster(report);
    return cluster.state.changes() != before;
  };
  CHECK(closes_in(60'000));
  const std::uint64_t known = cluster.state.nodes().at("a").closes_ms;
  cluster.pass(500);
  CHECK_FALSE(closes_in(59'400));
  CHECK(cluster.state.nodes().at("a").closes_ms == known);
  CHECK(closes_in(3'600'000));
  CHECK(closes_in(0));
  CHECK(cluster.state.nodes().at("a").closes_ms == 0);
}
