#include <doctest/doctest.h>

#include "jobs/state/job_end.h"
#include "jobs/state/spanning_fixture.h"

using namespace piracema;
using namespace piracema::jobs;
using namespace piracema::jobs::testing;

namespace {

/// A stream over a, b and c with three coordinators. What a has asked for: 1 on b, which asks for 2
/// on c itself.
struct Outliving : Spanning {
  Outliving() : Spanning({follows_nodes_variable, "PIRACEMA_COORDINATORS=3"}) {
    (*this)(leading({{id, 1, 1}}, {asked(1, "b")}));
    (*this)(on_b({{id, 1, 2}}, {asked(2, "c")}));
    (*this)(on_c());
  }
  Report on_b(std::vector<Attempt> wants, std::vector<AskedPart> asks = {}) {
    Report report = of("b");
    report.has = {{id, 1, 1}};
    report.wants = std::move(wants);
    report.asks = std::move(asks);
    return report;
  }
  Report on_c() {
    Report report = of("c");
    report.has = {{id, 1, 2}};
    return report;
  }
  /// Its lease ends; the others are there.
  void lose_first(bool b_too = false) {
    for (int i = 0; i < 11; ++i) {
      pass(500);
      if (!b_too) (*this)(on_b({{id, 1, 2}}));
      (*this)(on_c());
    }
  }
};

}  // namespace

TEST_CASE("a part asks for parts, as the command does") {
  Outliving cluster;
  const Job& job = cluster.job(cluster.id);
  CHECK(job.parts.at(1).asker == "a");
  CHECK(job.parts.at(2).asker == "b");
  // Its end is told where it was asked for.
  Report ends = cluster.of("c");
  ends.ended = {{{cluster.id, 1, 2}, End::exited, 3, "no"}};
  cluster(ends);
  CHECK(cluster(cluster.leading({{cluster.id, 1, 1}})).ended.empty());
  CHECK(cluster(cluster.on_b({{cluster.id, 1, 2}})).ended.at(0).code == 3);
  CHECK(cluster(cluster.on_b({})).ended.empty());
  CHECK_FALSE(job.parts.contains(2));
  // Nobody of it is on c any more.
  Report stranger = cluster.of("c");
  stranger.wants = {{cluster.id, 1, 3}};
  stranger.asks = {cluster.asked(3, "b")};
  cluster(stranger);
  CHECK_FALSE(job.parts.contains(3));
}

TEST_CASE("two nodes that have drawn one number for a part do not share it") {
  Outliving cluster;
  const Answer answer =
      cluster(cluster.on_b({{cluster.id, 1, 2}, {cluster.id, 1, 1}}, {cluster.asked(1, "c")}));
  REQUIRE(answer.ended.size() == 1);
  CHECK(answer.ended[0].why == "another part of job 1 has this number: ask again");
  CHECK(cluster.job(cluster.id).parts.at(1).node == "b");
}

TEST_CASE("every part of a job that outlives its first node is told its nodes") {
  Outliving cluster;
  const std::vector<HostOfOrder> all{{"a", "h-a"}, {"b", "h-b"}, {"c", "h-c"}};
  CHECK(cluster(cluster.on_c()).orders.at(0).hosts == all);
  cluster.join("d");
  cluster(Drain{"b", true});
  CHECK(cluster(cluster.on_c()).orders.at(0).hosts ==
        std::vector<HostOfOrder>{{"a", "h-a"}, {"c", "h-c"}, {"d", "h-d"}});
}

TEST_CASE(
    "when the first node is lost the job goes on, and another node has a command that joins") {
  Outliving cluster;
  cluster.lose_first();
  const Job& job = cluster.job(cluster.id);
  CHECK(job.state == JobState::running);
  CHECK(job.attempt == 1);
  CHECK(job.losses == 1);
  CHECK(job.node == "b");
  CHECK(job.others == std::vector<std::string>{"c"});
  CHECK(job.why == "runs on 2 of 3 nodes, and waits for 2 slots of another one");
  // What it had asked for lives on, and nobody wants to hear of it.
  const Answer told = cluster(cluster.on_b({{cluster.id, 1, 2}}));
  REQUIRE(told.orders.size() == 2);
  CHECK(told.orders[0].attempt == Attempt{cluster.id, 1});
  CHECK(told.orders[0].joins);
  CHECK(told.orders[0].spec);
  CHECK(told.orders[1].attempt == Attempt{cluster.id, 1, 1});
  CHECK_FALSE(told.orders[1].leave);
  Report ends = cluster.on_b({{cluster.id, 1, 2}});
  ends.ended = {{{cluster.id, 1, 1}, End::exited, 0, "ended"}};
  cluster(ends);
  CHECK_FALSE(job.parts.contains(1));
  // What it says is what the command says that is there now, and what parts do; each once.
  Report says = cluster.on_b({{cluster.id, 1, 2}});
  says.said = {{{cluster.id, 1}, 0, "joined "}};
  cluster(says);
  Report part = cluster.on_c();
  part.said = {{{cluster.id, 1, 2}, 0, "alone "}, {{cluster.id, 1, 2}, 3, "ne still"}};
  cluster(part);
  // Of another attempt, of no part, and of a part that is another node's.
  part = cluster.on_c();
  part.said = {{{cluster.id, 2, 2}, 0, "x"}, {{cluster.id, 1, 3}, 0, "x"}};
  cluster(part);
  says = cluster.on_b({{cluster.id, 1, 2}});
  says.said = {{{cluster.id, 1, 2}, 0, "nobody says this"}};
  cluster(says);
  CHECK(job.output == "joined alone still");
  // The lost one comes back, and is one of the others.
  cluster.join("a", 2);
  CHECK(job.others == std::vector<std::string>{"c", "a"});
  CHECK(job.node == "b");
  // And what it says of a command that it had counts no more.
  Report late{.node = "a", .incarnation = 2, .number = 99};
  late.ended = {exited(cluster.id, 1, 0)};
  cluster(late);
  CHECK(job.state == JobState::running);
  const auto end = [&](std::uint32_t code) {
    Report over = cluster.on_b({{cluster.id, 1, 2}});
    over.ended = {exited(cluster.id, 1, code)};
    cluster(over);
    cluster(cluster.of("b")), cluster(cluster.of("c"));
  };
  SUBCASE("and ends with the command") {
    end(0);
    CHECK(job.state == JobState::done);
  }
  SUBCASE("and begins anew, where the command finds nobody") {
    end(4);
    CHECK(job.state == JobState::running);
    CHECK(job.attempt == 2);
    CHECK(job.failures == 0);
    CHECK(job.losses == 1);
    CHECK_FALSE(job.joins);
  }
}

TEST_CASE("two nodes are lost at once, with the first: the last one has the command") {
  Outliving cluster;
  cluster.lose_first(true);
  CHECK(cluster.job(cluster.id).node == "c");
  CHECK(cluster.job(cluster.id).others.empty());
}

TEST_CASE("a job goes on with a node whose home has room") {
  Outliving cluster;
  const Job& job = cluster.job(cluster.id);
  Report full = cluster.on_b({{cluster.id, 1, 2}});
  full.full = true;
  SUBCASE("when its first node is lost") {
    cluster(full);
    Report fenced = cluster.of("a");
    fenced.ended = {{{cluster.id, 1}, End::fenced, 137, "fenced"}};
    cluster(fenced);
    CHECK(job.state == JobState::running);
    CHECK(job.node == "c");
    CHECK(job.others.at(0) == "b");
    // What runs there stays.
    CHECK_FALSE(cluster(cluster.on_b({{cluster.id, 1, 2}})).orders.at(0).leave);
  }
  SUBCASE("when its first node is left") {
    cluster(full);
    cluster(Drain{"a", true});
    CHECK(cluster(cluster.leading({{cluster.id, 1, 1}})).orders.at(0).hands_over);
    SUBCASE("and as long as there is one") {
      Report c_too = cluster.on_c();
      c_too.full = true;
      cluster(c_too);
      CHECK(job.state == JobState::leaving);
    }
  }
  SUBCASE("and begins anew if there is none") {
    cluster(full);
    Report c_too = cluster.on_c();
    c_too.full = true;
    cluster(c_too);
    CHECK(job.state == JobState::running);
    Report fenced = cluster.of("a");
    fenced.ended = {{{cluster.id, 1}, End::fenced, 137, "fenced"}};
    cluster(fenced);
    CHECK(job.state == JobState::ending);
    CHECK(job.next == JobState::waiting);
  }
}

TEST_CASE("a part stays when whoever has asked for it leaves its node, and ends with its attempt") {
  Outliving cluster;
  cluster(cluster.on_b({}));
  CHECK(cluster(cluster.on_c()).orders.size() == 1);
  CHECK(cluster.job(cluster.id).parts.at(2).wanted);
  cluster(Cancel{cluster.id});
  Report over = cluster.leading({});
  over.ended = {exited(cluster.id, 1, 75)};
  cluster(over);
  CHECK(cluster(cluster.on_c()).orders.empty());
}

TEST_CASE("a stream whose nodes are one machine leaves as a whole with its first node") {
  Cluster cluster;
  for (const char* name : {"a", "b", "c"}) cluster(Join{name, 1, 2, "/d", "127.0.0.1"});
  const JobId id =
      cluster(Submit{{.name = "j",
                      .command = {"x"},
                      .environment = {follows_nodes_variable, "PIRACEMA_COORDINATORS=3"},
                      .nodes = 3,
                      .slots = 2}})
          .job;
  cluster(Drain{"a", true});
  CHECK(cluster.job(id).state == JobState::leaving);
  const Order told = cluster.report("a", {{id, 1}}).orders.at(0);
  CHECK(told.leave);
  CHECK_FALSE(told.hands_over);
}

TEST_CASE("when the first node is to be left, its command ends and another node's joins the job") {
  Outliving cluster;
  cluster.join("d");
  cluster(Drain{"a", true});
  const Job& job = cluster.job(cluster.id);
  CHECK(job.state == JobState::running);
  CHECK(job.why == "leaves a");
  // Another node takes its place; the stream leaves it, and then its command ends.
  const std::vector<HostOfOrder> others{{"b", "h-b"}, {"c", "h-c"}, {"d", "h-d"}};
  const Order told = cluster(cluster.leading({{cluster.id, 1, 1}})).orders.at(0);
  CHECK(told.hands_over);
  CHECK_FALSE(told.leave);
  CHECK(told.hosts == others);
  CHECK(cluster(cluster.on_c()).orders.at(0).hosts == others);
  CHECK(cluster(cluster.of("b")).orders.at(0).attempt.part == 1);
  SUBCASE("and is not in the job any more") {
    Report left = cluster.of("a");
    left.ended = {{{cluster.id, 1}, End::left, 75, "left"}};
    cluster(left);
    CHECK(job.state == JobState::running);
    CHECK(job.attempt == 1);
    CHECK(job.losses == 0);
    CHECK(job.node == "b");
    CHECK(job.others == std::vector<std::string>{"c", "d"});
    CHECK(job.why.empty());
    const Answer orders = cluster(cluster.on_b({{cluster.id, 1, 2}}));
    CHECK(orders.orders.at(0).joins);
    CHECK(orders.orders.at(0).spec);
    CHECK(cluster(cluster.of("a")).orders.empty());
  }
  SUBCASE("or stays, as it drains no more") {
    cluster(Drain{"a", false});
    CHECK_FALSE(cluster(cluster.leading({{cluster.id, 1, 1}})).orders.at(0).hands_over);
    CHECK(job.node == "a");
  }
  SUBCASE("or the job is over before") {
    Report over = cluster.of("a");
    over.ended = {exited(cluster.id, 1, 0)};
    cluster(over);
    cluster(cluster.of("b")), cluster(cluster.of("c"));
    CHECK(job.state == JobState::done);
  }
  SUBCASE("or it is cancelled: all of it is asked to leave") {
    cluster(Cancel{cluster.id});
    const Order order = cluster(cluster.leading({{cluster.id, 1, 1}})).orders.at(0);
    CHECK(order.leave);
    CHECK_FALSE(order.hands_over);
  }
  SUBCASE("or it could not: what its node could not be sure of counts as lost") {
    Report fenced = cluster.of("a");
    fenced.ended = {{{cluster.id, 1}, End::fenced, 137, "fenced"}};
    cluster(fenced);
    CHECK(job.state == JobState::running);
    CHECK(job.node == "b");
    CHECK(job.losses == 1);
  }
}

TEST_CASE("what a node said before of a command says nothing of one that runs there again") {
  Outliving cluster;
  Report fenced = cluster.of("a");
  fenced.ended = {{{cluster.id, 1}, End::fenced, 137, "fenced"}};
  cluster(fenced);
  const Job& job = cluster.job(cluster.id);
  REQUIRE(job.node == "b");
  cluster(Leave{"b", 1}), cluster(Leave{"c", 1});
  REQUIRE(job.node == "a");
  cluster(cluster.leading({}));
  // That was on its way for long.
  cluster(fenced);
  CHECK(job.state == JobState::running);
  CHECK(job.node == "a");
  CHECK(job.losses == 3);
}

TEST_CASE("a part on the first node leaves it with the command, and what a user runs there stays") {
  Outliving cluster;
  cluster(RunBeside{cluster.id, {"savepoint"}});
  cluster(cluster.on_c());
  Report asks = cluster.on_b({{cluster.id, 1, 2}, {cluster.id, 1, 3}}, {cluster.asked(3, "a")});
  cluster(asks);
  cluster(Drain{"a", true});
  const auto orders = cluster(cluster.leading({{cluster.id, 1, 1}})).orders;
  CHECK(orders.size() == 3);
  for (const Order& order : orders) {
    CHECK(order.leave == (order.attempt.part == 3));
  }
}

TEST_CASE(
    "where too few nodes would stay, all of the job leaves when its first node is to be left") {
  Outliving cluster;
  const Job& job = cluster.job(cluster.id);
  SUBCASE("others were left before") {
    cluster(Drain{"b", true});
    CHECK(job.state == JobState::running);
    cluster(Drain{"a", true});
  }
  SUBCASE("others are left as well") {
    cluster(Drain{"a", true});
    CHECK(job.state == JobState::running);
    cluster(Drain{"b", true});
  }
  CHECK(job.state == JobState::leaving);
  CHECK(cluster(cluster.leading({{cluster.id, 1, 1}})).orders.at(0).leave);
}

TEST_CASE("a job that is to end, or has one coordinator, does not outlive its first node") {
  SUBCASE("it is cancelled") {
    Outliving cluster;
    cluster(Cancel{cluster.id});
    cluster.lose_first();
    CHECK(cluster.job(cluster.id).state == JobState::ending);
  }
  SUBCASE("it has one") {
    Spanning cluster({follows_nodes_variable});
    for (int i = 0; i < 11; ++i) {
      cluster.pass(500);
      cluster(cluster.of("b")), cluster(cluster.of("c"));
    }
    CHECK(cluster.job(cluster.id).state == JobState::waiting);
  }
  SUBCASE("it has lost its first node too often") {
    Outliving cluster;
    const Job& job = cluster.job(cluster.id);
    std::uint64_t others = 1;
    while (job.losses < losses_max) {
      REQUIRE(job.state == JobState::running);
      const std::string first = job.node;
      cluster(Leave{first, cluster.state.nodes().at(first).incarnation});
      cluster.join(first, ++others);
    }
    CHECK(job.attempt == 1);
    CHECK(job.state == JobState::failed);
  }
}
