#include "jobs/state/job_parts.h"

#include <doctest/doctest.h>

#include "jobs/state/spanning_fixture.h"

using namespace piracema;
using namespace piracema::jobs;
using namespace piracema::jobs::testing;

using Verdict = Answer::Verdict;

TEST_CASE("the command of a job of several nodes is told on which sites they are") {
  Cluster cluster;
  for (const auto& [node, site] : {std::pair("a", "east"), std::pair("b", "west")}) {
    cluster(Join{node, 1, 2, "/d", std::string("h-") + node, 0, {}, "", site});
  }
  cluster(Submit{{.name = "j", .command = {"x"}, .nodes = 2}});
  const Answer begins = cluster.report("a");
  REQUIRE(begins.orders.size() == 1);
  CHECK(begins.orders[0].hosts ==
        std::vector<HostOfOrder>{{"a", "h-a", "east"}, {"b", "h-b", "west"}});
  // A line of a file has it.
  CHECK(cluster(Join{.node = "c", .incarnation = 1, .slots = 2, .site = "room 1"}).verdict ==
        Verdict::refused);
}

TEST_CASE("the command of a job of several nodes is told of them, and has parts run there") {
  Spanning cluster;
  const Answer begins = cluster(cluster.of("a"));
  REQUIRE(begins.orders.size() == 1);
  CHECK(begins.orders[0].hosts ==
        std::vector<HostOfOrder>{{"a", "h-a"}, {"b", "h-b"}, {"c", "h-c"}});
  CHECK(begins.orders[0].hosts[0].site.empty());
  CHECK(cluster(cluster.of("b")).orders.empty());
  for (const char* name : {"a", "b", "c"}) CHECK(cluster.state.nodes().at(name).used == 2);
  cluster(cluster.leading({{cluster.id, 1, 5}}, {cluster.asked(5, "b")}));
  const Answer told = cluster(cluster.of("b"));
  REQUIRE(told.orders.size() == 1);
  CHECK(told.orders[0].attempt == Attempt{cluster.id, 1, 5});
  CHECK(told.orders[0].spec->command == std::vector<std::string>{"agent"});
  CHECK(told.orders[0].input == "line");
  CHECK(cluster(cluster.of("c")).orders.empty());
  // Its end is told as long as it is wanted.
  Report ends = cluster.of("b");
  ends.has = {{cluster.id, 1, 5}};
  ends.ended = {{{cluster.id, 1, 5}, End::exited, 3, "ended with status 3"}};
  CHECK(cluster(ends).orders.empty());
  for (int i = 0; i < 2; ++i) {
    const Answer over = cluster(cluster.leading({{cluster.id, 1, 5}}));
    REQUIRE(over.ended.size() == 1);
    CHECK(over.ended[0].code == 3);
  }
  CHECK(cluster(cluster.leading({})).ended.empty());
  CHECK(cluster.job(cluster.id).parts.empty());
}

TEST_CASE("a part is refused to whoever may not have it") {
  Spanning cluster;
  const JobId other = cluster(Submit{{.name = "j", .command = {"x"}, .nodes = 2}}).job;
  const auto why = [&](const AskedPart& part) {
    const Answer answer = cluster(cluster.leading({part.part}, {part}));
    return answer.ended.empty() ? "" : answer.ended[0].why;
  };
  CHECK(why({{cluster.id, 1, 1}, "z", {"x"}, ""}) == "want a node of job 1, found 'z'");
  CHECK(why({{cluster.id, 1, 1}, "b", {}, ""}) == "want a program to run as a part, found none");
  CHECK(why({{cluster.id, 1, 1}, "b", {std::string(part_bytes_max, 'x')}, ""})
            .starts_with("want at most 16384 bytes of a part's words"));
  // Of an older attempt, of another job, of a node that does not lead it: nothing becomes of it.
  CHECK(why(cluster.asked(1, "b", 0)).empty());
  CHECK(why({{other, 1, 1}, "b", {"x"}, ""}).empty());
  Report stranger = cluster.of("b");
  stranger.wants = {{cluster.id, 1, 1}};
  stranger.asks = {cluster.asked(1, "c")};
  CHECK(cluster(stranger).ended.empty());
  CHECK(cluster.job(cluster.id).parts.empty());
  CHECK(cluster.job(other).parts.empty());
  std::vector<Attempt> wants;
  std::vector<AskedPart> asks;
  for (std::uint32_t i = 1; i <= 3 * parts_max + 1; ++i) {
    asks.push_back(cluster.asked(i, "b"));
    wants.push_back(asks.back().part);
  }
  CHECK(cluster(cluster.leading(wants, asks)).ended.at(0).why ==
        "want at most 24 parts of job 1 at a time");
}

TEST_CASE("the next attempt begins when each node has said that it has nothing of the last one") {
  Spanning cluster;
  cluster.join("d");
  cluster(cluster.leading({{1, 1, 1}, {1, 1, 2}}, {cluster.asked(1, "b"), cluster.asked(2, "c")}));
  cluster(cluster.of("b")), cluster(cluster.of("c"));
  Report late = cluster.of("c");
  Report has = cluster.of("c");
  has.has = {{1, 1, 2}};
  cluster(has);
  // The leading node is not heard of any more.
  for (int i = 0; i < 11; ++i) {
    cluster.pass(500);
    for (const char* name : {"b", "c", "d"}) {
      Report report = cluster.of(name);
      if (name[0] != 'd') report.has = {{1, 1, name[0] == 'b' ? 1u : 2u}};
      cluster(report);
    }
  }
  CHECK(cluster.job(1).state == JobState::ending);
  CHECK(cluster(cluster.of("b")).orders.empty());
  CHECK(cluster.job(1).state == JobState::ending);
  // It was asked before the part was begun there, and says nothing.
  cluster(late);
  CHECK(cluster.job(1).state == JobState::ending);
  Report ends = cluster.of("c");
  ends.has = {{1, 1, 2}};
  CHECK(cluster(ends).orders.empty());
  CHECK(cluster.job(1).state == JobState::ending);
  ends = cluster.of("c");
  ends.ended = {{{1, 1, 2}, End::exited, 137, "ended"}};
  cluster(ends);
  CHECK(cluster.job(1).state == JobState::running);
  CHECK(cluster.job(1).attempt == 2);
  CHECK(cluster.job(1).losses == 1);
  CHECK_FALSE(has_node(cluster.job(1), "a"));
}

TEST_CASE("when another node of it is lost a job goes on, and may ask for a part there again") {
  Spanning cluster;
  cluster(cluster.leading({{1, 1, 1}}, {cluster.asked(1, "b")}));
  for (int i = 0; i < 11; ++i) {
    cluster.pass(500);
    cluster(cluster.leading({{1, 1, 1}}));
    cluster(cluster.of("c"));
  }
  CHECK(cluster.job(1).state == JobState::running);
  const Answer told = cluster(cluster.leading({{1, 1, 1}}));
  REQUIRE(told.ended.size() == 1);
  CHECK(told.ended[0].why == "the node b was not heard of for 5000 ms");
  CHECK(cluster(cluster.leading({{1, 1, 2}}, {cluster.asked(2, "b")})).ended.at(0).why ==
        "the node b is not heard of");
  cluster.join("b", 2);
  cluster(cluster.leading({{1, 1, 3}}, {cluster.asked(3, "b")}));
  CHECK(cluster(Report{.node = "b", .incarnation = 2, .number = 1}).orders.size() == 1);
}

TEST_CASE("a command that ends badly as another node of it is lost has not failed") {
  // It may notice that before the lease is over, or after.
  for (const bool notices_early : {true, false}) {
    Spanning cluster;
    cluster.join("d");
    cluster(cluster.leading({{1, 1, 1}}, {cluster.asked(1, "b")}));
    Report has = cluster.of("b");
    has.has = {{1, 1, 1}};
    cluster(has);
    const auto end = [&] {
      Report ends = cluster.leading({});
      ends.ended = {exited(1, 1, 3)};
      cluster(ends);
    };
    if (notices_early) end();
    for (int i = 0; i < 11; ++i) {
      cluster.pass(500);
      cluster(notices_early ? cluster.of("a") : cluster.leading({{1, 1, 1}}));
      for (const char* name : {"c", "d"}) cluster(cluster.of(name));
    }
    if (!notices_early) end();
    CHECK(cluster.job(1).state == JobState::running);
    CHECK(cluster.job(1).attempt == 2);
    CHECK(cluster.job(1).failures == 0);
    CHECK(cluster.job(1).losses == 1);
    CHECK_FALSE(has_node(cluster.job(1), "b"));
  }
}

TEST_CASE("a command that ends badly while all of its nodes are there has failed") {
  Spanning cluster;
  cluster(cluster.leading({{1, 1, 1}}, {cluster.asked(1, "b")}));
  Report ends = cluster.leading({});
  ends.ended = {exited(1, 1, 3)};
  cluster(ends);
  cluster(cluster.of("b"));
  CHECK(cluster.job(1).state == JobState::failed);
  CHECK(cluster.job(1).failures == 1);
}

TEST_CASE("a job leaves as a whole when one of its nodes drains") {
  Spanning cluster;
  cluster(Drain{"c", true});
  CHECK(cluster(cluster.leading({})).orders.at(0).leave);
  Report ends = cluster.leading({});
  ends.ended = {exited(1, 1, 75)};
  cluster(ends);
  CHECK(cluster.job(1).state == JobState::waiting);
  CHECK(cluster.job(1).why.starts_with("waits for 3 nodes of 2 slots that are there: there are 2"));
}

TEST_CASE("a job that follows its nodes does without one that drains, and gets another one") {
  Spanning cluster({follows_nodes_variable});
  cluster(cluster.leading({{1, 1, 1}}, {cluster.asked(1, "b")}));
  Report has = cluster.of("b");
  has.has = {{1, 1, 1}};
  cluster(has);
  cluster(Drain{"b", true});
  Answer told = cluster(cluster.leading({{1, 1, 1}}));
  CHECK_FALSE(told.orders.at(0).leave);
  CHECK(told.orders[0].hosts == std::vector<HostOfOrder>{{"a", "h-a"}, {"c", "h-c"}});
  CHECK(cluster.job(1).why == "runs on 2 of 3 nodes, and waits for 2 slots of another one");
  has.number = cluster.of("b").number;
  CHECK(cluster(has).orders.at(0).leave);
  CHECK(cluster.state.nodes().at("b").used == 2);
  CHECK(cluster(Forget{"b"}).verdict == Verdict::refused);
  SUBCASE("a new node") {
    cluster.join("d");
    told = cluster(cluster.leading({{1, 1, 1}}));
    CHECK(told.orders.at(0).hosts ==
          std::vector<HostOfOrder>{{"a", "h-a"}, {"c", "h-c"}, {"d", "h-d"}});
    CHECK(cluster.job(1).why.empty());
    CHECK(cluster.job(1).attempt == 1);
    CHECK(cluster.state.nodes().at("d").used == 2);
    // There it may have parts, and not any more on the one that was left.
    told = cluster(cluster.leading({{1, 1, 1}, {1, 1, 2}, {1, 1, 3}},
                                   {cluster.asked(2, "d"), cluster.asked(3, "b")}));
    REQUIRE(told.ended.size() == 1);
    CHECK(told.ended[0].why == "want a node of job 1, found 'b'");
  }
  SUBCASE("the same one, once its part has ended") {
    cluster(Drain{"b", false});
    CHECK(cluster.job(1).others == std::vector<std::string>{"c"});
    Report ends = cluster.of("b");
    ends.ended = {{{1, 1, 1}, End::exited, 0, "ended with status 0"}};
    cluster(ends);
    CHECK(cluster.job(1).others == std::vector<std::string>{"c", "b"});
  }
  SUBCASE("its first node leaves, and so does all of it") {
    cluster(Drain{"a", true});
    CHECK(cluster(cluster.leading({})).orders.at(0).leave);
  }
}

TEST_CASE("a job that follows its nodes is given more of them while it runs, and fewer") {
  Spanning cluster({follows_nodes_variable});
  cluster(cluster.leading({{1, 1, 1}}, {cluster.asked(1, "c")}));
  Report has = cluster.of("c");
  has.has = {{1, 1, 1}};
  cluster(has);
  const Answer grown = cluster(Resize{1, 5});
  REQUIRE(grown.jobs.size() == 1);
  CHECK(grown.jobs[0].why == "runs on 3 of 5 nodes, and waits for 2 slots of another one");
  cluster.join("d");
  cluster.join("e");
  CHECK(cluster.job(1).others == std::vector<std::string>{"b", "c", "d", "e"});
  CHECK(cluster.job(1).why.empty());
  // The last ones go first, and keep their places until what runs there has left.
  cluster(Resize{1, 2});
  CHECK(cluster.job(1).others == std::vector<std::string>{"b"});
  CHECK(cluster(cluster.leading({{1, 1, 1}})).orders.at(0).hosts ==
        std::vector<HostOfOrder>{{"a", "h-a"}, {"b", "h-b"}});
  CHECK(cluster.state.nodes().at("e").used == 0);
  CHECK(cluster.state.nodes().at("c").used == 2);
  has.number = cluster.of("c").number;
  CHECK(cluster(has).orders.at(0).leave);
  Report ends = cluster.of("c");
  ends.ended = {{{1, 1, 1}, End::exited, 0, "ended with status 0"}};
  cluster(ends);
  CHECK(cluster.state.nodes().at("c").used == 0);
  // Nothing was stopped, and the next attempt begins with as many.
  CHECK(cluster.job(1).attempt == 1);
  Report lost = cluster.leading({});
  lost.ended = {{{1, 1}, End::fenced, 0, "the node was cut off"}};
  cluster(lost);
  for (const char* name : {"a", "b"}) cluster(cluster.of(name));
  CHECK(cluster.job(1).attempt == 2);
  CHECK(cluster.job(1).others.size() == 1);
}

TEST_CASE("a number of nodes that cannot be is refused, and why") {
  Spanning follows({follows_nodes_variable}), stays;
  const auto why = [](Spanning& cluster, JobId job, std::uint32_t nodes) {
    return cluster(Resize{job, nodes}).why;
  };
  CHECK(why(follows, 1, 1) == "want 2 nodes or more for job 1, found 1");
  CHECK(why(follows, 1, 1'001) == "want 1 to 1000 nodes, found 1001");
  CHECK(why(follows, 2, 3) == "there is no job 2");
  CHECK(why(stays, 1, 2).starts_with("job 1 does not follow its nodes: want one"));
  // One that is told a new number while it waits begins with that.
  follows(Resize{1, 3});
  const JobId waits = follows(Submit{{.name = "j",
                                      .command = {"x"},
                                      .environment = {follows_nodes_variable},
                                      .nodes = 9,
                                      .slots = 1}})
                          .job;
  for (const char* name : {"d", "e"}) follows.join(name);
  CHECK(follows.job(waits).state == JobState::waiting);
  CHECK(why(follows, waits, 2).empty());
  CHECK(follows.job(waits).state == JobState::running);
  follows(Cancel{1});
  Report over = follows.leading({});
  over.ended = {exited(1, 1, 75)};
  follows(over);
  CHECK(why(follows, 1, 2) == "job 1 is over: want one that is not");
}

TEST_CASE("a job that follows its nodes gets another one for one that is lost") {
  Spanning cluster({follows_nodes_variable});
  cluster.join("d");
  for (int i = 0; i < 11; ++i) {
    cluster.pass(500);
    cluster(cluster.leading({}));
    cluster(cluster.of("c"));
    cluster(cluster.of("d"));
  }
  CHECK(cluster.job(1).attempt == 1);
  CHECK(cluster.job(1).others == std::vector<std::string>{"c", "d"});
}

TEST_CASE(
    "what a user has run beside a command runs on its node, and whoever waits is told its end") {
  Spanning cluster;
  const JobId waits = cluster(Submit{{.name = "j", .command = {"x"}, .slots = 2}}).job;
  const auto why = [&](JobId job, std::vector<std::string> command) {
    return cluster(RunBeside{job, std::move(command)}).why;
  };
  CHECK(why(cluster.id, {}) == "want a program to run as a part, found none");
  CHECK(why(99, {"x"}) == "there is no job 99");
  CHECK(why(waits, {"x"}) == "job 2 waits for a place: want one that runs");

  const Answer asked = cluster(RunBeside{cluster.id, {"ask", "it"}});
  REQUIRE(asked.verdict == Verdict::done);
  const Attempt attempt{cluster.id, 1, first_beside};
  CHECK(asked.jobs.at(0).parts.rbegin()->first == first_beside);
  const Answer told = cluster(cluster.leading({}));
  REQUIRE(told.orders.size() == 2);
  CHECK(told.orders[1].attempt == attempt);
  CHECK(told.orders[1].spec->command == std::vector<std::string>{"ask", "it"});
  CHECK(cluster(cluster.of("b")).orders.empty());
  // Not of the command, which need not want it; and no place more.
  CHECK(cluster(cluster.leading({})).orders.size() == 2);
  CHECK(cluster.state.nodes().at("a").used == 2);

  const auto look = [&](std::uint64_t mark) {
    return *decode_answer(cluster.state.query(encode(Operation(AwaitJob{cluster.id, mark, 0}))));
  };
  const Answer before = look(0);
  CHECK(look(before.mark).mark == 0);
  Report ends = cluster.leading({});
  ends.has.push_back(attempt);
  ends.ended = {{attempt, End::exited, 3, "no"}};
  CHECK(cluster(ends).orders.size() == 1);
  const Answer after = look(before.mark);
  CHECK(after.mark != 0);
  CHECK(after.jobs.at(0).parts.at(first_beside).ended->why == "no");

  // A few at a time, and the last few are remembered; numbers go on.
  for (std::size_t i = 0; i < beside_max; ++i) {
    CHECK(why(cluster.id, {"x"}).empty());
  }
  CHECK(why(cluster.id, {"x"}) == "want at most 4 at a time that are run beside job 1, found 4");
  Report all = cluster.leading({});
  for (std::uint32_t i = 1; i <= beside_max; ++i) {
    all.ended.push_back({{cluster.id, 1, first_beside + i}, End::exited, 0, ""});
  }
  cluster(all);
  CHECK(cluster(RunBeside{cluster.id, {"x"}}).jobs.at(0).parts.rbegin()->first == first_beside + 5);
  CHECK(cluster.job(cluster.id).parts.size() == beside_max);

  // It ends with the attempt.
  cluster(Cancel{cluster.id});
  CHECK(why(cluster.id, {"x"}) == "job 1 is to end: want one that goes on");
  Report over = cluster.leading({});
  over.has.push_back({cluster.id, 1, first_beside + 5});
  over.ended = {exited(cluster.id, 1, 75)};
  cluster(over);
  CHECK(cluster.job(cluster.id).state == JobState::ending);
  Report gone = cluster.of("a");
  cluster(gone);
  CHECK(cluster.job(cluster.id).state == JobState::cancelled);
  CHECK(why(cluster.id, {"x"}) == "job 1 is over: want one that runs");
}

TEST_CASE("a command has no part with a number of those that users ask for") {
  Spanning cluster;
  const Answer answer =
      cluster(cluster.leading({{cluster.id, 1, first_beside}}, {cluster.asked(first_beside, "b")}));
  CHECK(answer.ended.at(0).why ==
        "want a part with a number from 1 to 2147483647, found 2147483648");
}
