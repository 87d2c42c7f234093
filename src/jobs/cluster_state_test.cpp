#include "jobs/cluster_state.h"

#include <doctest/doctest.h>

#include <random>

#include "jobs/testing.h"

using namespace piracema;
using namespace piracema::jobs;

namespace {

using Verdict = Answer::Verdict;

/// A group of one replica, and its clock in milliseconds.
struct Group {
  ClusterState state;
  std::uint64_t clock = 1'000'000;

  Answer operator()(const Operation& operation) {
    return says(testing::honest_client(operation), operation);
  }
  Answer says(std::uint64_t client, const Operation& operation) {
    auto answer = decode_answer(
        state.apply(encode(operation), {.time = clock * 1'000'000, .client = client}));
    REQUIRE(answer.ok());
    return *answer;
  }
  /// Time passes, as the leader sees to it.
  void pass(std::uint64_t ms) {
    const std::uint64_t until = clock + ms;
    while (state.next_deadline() && *state.next_deadline() <= until * 1'000'000) {
      clock = std::max(clock, *state.next_deadline() / 1'000'000);
      state.on_time({.time = clock * 1'000'000});
    }
    clock = until;
  }
  Answer join(const std::string& node, std::uint64_t incarnation = 1, std::uint32_t slots = 2) {
    return (*this)(Join{node, incarnation, slots, "/d", "h-" + node});
  }
  Answer report(const std::string& node, std::vector<Attempt> has = {},
                std::vector<Ended> ended = {}) {
    return (*this)(
        Report{.node = node, .incarnation = 1, .has = std::move(has), .ended = std::move(ended)});
  }
  JobId submit(std::uint32_t slots = 1, std::uint32_t retries = 0) {
    const Answer answer =
        (*this)(Submit{{.name = "j", .command = {"true"}, .slots = slots, .retries = retries}});
    REQUIRE(answer.verdict == Verdict::done);
    return answer.job;
  }
  const Job& job(JobId id) const { return state.jobs().at(id); }
};

Ended exited(JobId job, std::uint32_t attempt, std::uint32_t code) {
  return {{job, attempt}, End::exited, code, "ended with status " + std::to_string(code)};
}

}  // namespace

TEST_CASE("a job that is asked for runs where there is a place, and is over when it has ended") {
  Group group;
  const JobId id = group.submit();
  CHECK(group.job(id).state == JobState::waiting);
  CHECK(group.job(id).why == "waits for a node: there is none");
  const Answer joined = group.join("a");
  REQUIRE(joined.orders.size() == 1);
  CHECK(joined.orders[0].attempt == Attempt{id, 1});
  CHECK(joined.orders[0].spec->command == std::vector<std::string>{"true"});
  // What the node has is not told again.
  const Answer again = group.report("a", {{id, 1}});
  REQUIRE(again.orders.size() == 1);
  CHECK_FALSE(again.orders[0].spec);
  CHECK(group.report("a", {{id, 1}}, {exited(id, 1, 0)}).orders.empty());
  CHECK(group.job(id).state == JobState::done);
  CHECK(group.state.nodes().at("a").used == 0);
}

TEST_CASE("a job that fails is begun again as often as was asked for") {
  Group group;
  group.join("a");
  const JobId id = group.submit(1, 1);
  group.report("a", {}, {exited(id, 1, 7)});
  CHECK(group.job(id).state == JobState::waiting);
  CHECK(group.job(id).why == "begins again after a pause of 1 s: ended with status 7");
  group.pass(1'000);
  CHECK(group.job(id).state == JobState::running);
  CHECK(group.job(id).attempt == 2);
  // Said once more, of the attempt before.
  group.report("a", {}, {exited(id, 1, 7)});
  CHECK(group.job(id).failures == 1);
  group.report("a", {}, {exited(id, 2, 7)});
  CHECK(group.job(id).state == JobState::failed);
  CHECK(group.job(id).code == 7);
  CHECK(group.job(id).why == "ended with status 7");
}

TEST_CASE(
    "a job that fails at once each time pauses longer and longer, and keeps nobody from a place") {
  Group group;
  group.join("a");
  const JobId id = group.submit(2, 20);
  std::vector<std::uint64_t> pauses;
  for (std::uint32_t attempt = 1; attempt <= 9; ++attempt) {
    group.report("a", {}, {exited(id, attempt, 1)});
    REQUIRE(group.job(id).state == JobState::waiting);
    const std::uint64_t since = group.clock;
    if (attempt == 9) break;
    while (group.job(id).state == JobState::waiting) {
      group.pass(100);
      group.report("a");
    }
    pauses.push_back((group.clock - since) / 1'000);
  }
  CHECK(pauses == std::vector<std::uint64_t>{1, 2, 4, 8, 16, 32, 60, 60});
  const JobId other = group.submit(2);
  CHECK(group.job(other).state == JobState::running);
  group(Cancel{id});
  CHECK(group.job(id).state == JobState::cancelled);
}

TEST_CASE(
    "the jobs of a node that is not heard of begin elsewhere, and what it says of them is "
    "nothing") {
  Group group;
  group.join("a");
  const JobId id = group.submit();
  group.join("b");
  for (int i = 0; i < 12; ++i) {
    group.pass(500);
    (void)group(Report{.node = "b", .incarnation = 1});
  }
  CHECK(group.job(id).node == "b");
  CHECK(group.job(id).attempt == 2);
  CHECK(group.job(id).losses == 1);
  CHECK_FALSE(group.state.nodes().at("a").alive);
  CHECK(group.report("a", {{id, 1}}, {exited(id, 1, 0)}).orders.empty());
  CHECK(group.job(id).state == JobState::running);
  CHECK(group.state.nodes().at("a").alive);
}

TEST_CASE("a time in which nobody was there to hear of nodes does not end their leases") {
  Group group;
  group.join("a");
  const JobId id = group.submit();
  // No majority for an hour, or another leader's clock is ahead.
  group.clock += 3'600'000;
  group.state.on_time({.time = group.clock * 1'000'000});
  CHECK(group.job(id).losses == 0);
  CHECK(group.report("a").verdict == Verdict::done);
}

TEST_CASE("of two processes with the name of a node the first one has it while it is heard") {
  Group group;
  group.join("a", 1);
  CHECK(group.join("a", 2).verdict == Verdict::refused);
  group.pass(lease_ms);
  const JobId id = group.submit();
  CHECK(group.join("a", 2).verdict == Verdict::done);
  CHECK(group.job(id).node == "a");
  CHECK(group(Report{.node = "a", .incarnation = 1}).verdict == Verdict::stranger);
}

TEST_CASE("what is cancelled ends, and is not begun again") {
  Group group;
  const JobId waits = group.submit();
  CHECK(group(Cancel{waits}).verdict == Verdict::done);
  CHECK(group.job(waits).state == JobState::cancelled);
  CHECK(group(Cancel{waits}).why == "job 1 is over");
  group.join("a");
  const JobId runs = group.submit(1, 5);
  group(Cancel{runs});
  const Answer told = group.report("a");
  REQUIRE(told.orders.size() == 1);
  CHECK(told.orders[0].leave);
  group.report("a", {}, {exited(runs, 1, 143)});
  CHECK(group.job(runs).state == JobState::cancelled);
  CHECK(group(Cancel{99}).why == "there is no job 99");
}

TEST_CASE("a node that drains gives its jobs to others without a failure of theirs") {
  Group group;
  group.join("a");
  const JobId id = group.submit();
  group.join("b");
  CHECK(group(Drain{"a", true}).verdict == Verdict::done);
  CHECK(group.report("a").orders[0].leave);
  group.report("a", {}, {exited(id, 1, 75)});
  CHECK(group.job(id).node == "b");
  CHECK(group.job(id).failures == 0);
  // One that was done before it heard of it is done.
  group(Drain{"b", true});
  group.report("b", {}, {exited(id, 2, 0)});
  CHECK(group.job(id).state == JobState::done);
  CHECK(group(Drain{"z", true}).why == "there is no node 'z'");
}

TEST_CASE(
    "a node that is not lent any more gives its jobs to others, and gets some when it is again") {
  Group group;
  group.join("a");
  const JobId id = group.submit();
  group.join("b");
  Report closes{.node = "a", .incarnation = 1, .number = 2};
  closes.lent = {.open = false, .why = "its user is there"};
  CHECK(group(closes).orders.at(0).leave);
  // A report that was sent before says nothing any more.
  Report late = closes;
  late.number -= 1;
  late.lent = {};
  group(late);
  CHECK_FALSE(group.state.nodes().at("a").lent.open);
  closes.number += 1;
  closes.ended = {exited(id, 1, 143)};
  group(closes);
  CHECK(group.job(id).node == "b");
  CHECK(group.job(id).failures == 0);
  const JobId other = group(Submit{{.name = "j", .command = {"x"}, .node = "a"}}).job;
  CHECK(group.job(other).why ==
        "waits for a node of 1 slot that is there: a is not lent now, its user is there");
  closes.number += 1;
  closes.ended.clear();
  closes.lent = {.closes_in_ms = 60'000};
  group(closes);
  CHECK(group.job(other).node == "a");
}

TEST_CASE("whoever awaits orders is told once there are others, and by no replica that is behind") {
  Group group;
  const Answer joined = group.join("a");
  const auto news = [&](std::uint64_t mark, std::uint64_t now_ms, std::uint64_t incarnation = 1) {
    const Buffer reply =
        group.state.query(encode(Operation(AwaitOrders{"a", incarnation, mark, now_ms})));
    const auto answer = decode_answer(reply);
    REQUIRE(answer.ok());
    CHECK(group.state.has_news(reply) == (answer->mark != 0));
    return answer->mark;
  };
  CHECK(joined.mark != 0);
  CHECK(news(joined.mark, joined.now_ms) == 0);
  group.clock += 10;
  const JobId id = group.submit();
  const std::uint64_t begun = news(joined.mark, joined.now_ms);
  CHECK(begun != 0);
  CHECK(news(joined.mark, joined.now_ms + 11) == 0);
  CHECK(news(joined.mark, joined.now_ms, 2) == 0);
  const Answer told = group.report("a");
  CHECK(told.mark == begun);
  CHECK(news(told.mark, told.now_ms) == 0);
  group.report("a", {{id, 1}});
  CHECK(news(told.mark, told.now_ms) == 0);
  group(Cancel{id});
  CHECK(news(told.mark, told.now_ms) != 0);
}

TEST_CASE("a node is forgotten once it is gone and no job has places there") {
  Group group;
  group.join("a");
  const JobId id = group.submit();
  CHECK(group(Forget{"a"}).why ==
        "the node a is there: want one that has ended, or was not heard of for 5000 ms");
  CHECK(group.state.nodes().contains("a"));
  group.pass(lease_ms);
  CHECK(group.job(id).state == JobState::waiting);
  CHECK(group(Forget{"a"}).verdict == Verdict::done);
  CHECK(group.state.nodes().empty());
  CHECK(group.job(id).why == "waits for a node: there is none");
  // Once more, or of a node that never was: there is nothing to do.
  CHECK(group(Forget{"a"}).verdict == Verdict::done);
  // A process of it that lives has to join anew, and is a node like any other then.
  CHECK(group.report("a", {{id, 1}}).verdict == Verdict::stranger);
  CHECK(group.join("a").orders.size() == 1);
  CHECK(group.job(id).attempt == 2);
}

TEST_CASE("a lost node stays known as long as a job of several nodes has places there") {
  Group group;
  group.join("a");
  group.join("b");
  const Answer asked = group(Submit{{.name = "j", .command = {"true"}, .nodes = 2, .slots = 1}});
  const std::string other = group.job(asked.job).others.front();
  const std::string first = group.job(asked.job).node;
  for (std::uint64_t waited = 0; waited <= lease_ms; waited += 1'000) {
    group.pass(1'000);
    group.report(first, {{asked.job, 1}});
  }
  REQUIRE_FALSE(group.state.nodes().at(other).alive);
  REQUIRE(group.job(asked.job).state == JobState::running);
  CHECK(group(Forget{other}).why == "job 1 has places on the node " + other +
                                        ": want one that no job has, so cancel it or wait for "
                                        "its end");
  group.report(first, {}, {exited(asked.job, 1, 0)});
  CHECK(group(Forget{other}).verdict == Verdict::done);
}

TEST_CASE("what a job says is kept once, and the last of it") {
  Group group;
  group.join("a");
  const JobId id = group.submit();
  const auto say = [&](std::uint64_t from, const std::string& text) {
    group(Report{.node = "a", .incarnation = 1, .said = {{{id, 1}, from, text}}});
  };
  say(0, "one ");
  say(0, "one two ");
  say(4, "two ");
  CHECK(group.job(id).output == "one two ");
  say(8, std::string(output_bytes_max, 'x'));
  CHECK(group.job(id).output == std::string(output_bytes_max, 'x'));
  CHECK(group.job(id).output_before == 8);
  say(100'000, "after a gap");
  CHECK(group.job(id).output == "after a gap");
  CHECK(group.job(id).output_before == 100'000);
}

TEST_CASE("a job that brings its nodes down again and again fails") {
  Group group;
  const JobId id = group.submit();
  for (std::uint64_t i = 1; i <= JobTable::losses_max; ++i) {
    CHECK(group.join("a", i).verdict == Verdict::done);
    group.pass(lease_ms);
  }
  CHECK(group.job(id).state == JobState::failed);
}

TEST_CASE("jobs that are over are forgotten, the oldest first") {
  Group group;
  for (std::size_t i = 0; i < JobTable::over_max + 10; ++i) group(Cancel{group.submit()});
  CHECK(group.state.jobs().size() == JobTable::over_max);
  CHECK(group.state.jobs().begin()->first == 11);
}

TEST_CASE("what cannot be a job is refused with what was wanted") {
  Group group;
  const auto why = [&](const JobSpec& spec) { return group(Submit{spec}).why; };
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

namespace {

/// Three nodes, a job over all of them, and what they report, each time with a higher number.
struct Spanning : Group {
  std::uint64_t number = 0;
  JobId id = 0;

  explicit Spanning(std::vector<std::string> environment = {}) {
    for (const char* name : {"a", "b", "c"}) join(name);
    id = (*this)(Submit{{.name = "j",
                         .command = {"x"},
                         .environment = std::move(environment),
                         .nodes = 3,
                         .slots = 2}})
             .job;
  }
  Report of(const std::string& node) {
    return {.node = node, .incarnation = 1, .number = ++number};
  }
  Report leading(std::vector<Attempt> wants, std::vector<AskedPart> asks = {}) {
    Report report = of("a");
    report.has = {{id, job(id).attempt}};
    report.wants = std::move(wants);
    report.asks = std::move(asks);
    return report;
  }
  AskedPart asked(std::uint32_t part, const std::string& node, std::uint32_t attempt = 1) const {
    return {{id, attempt, part}, node, {"agent"}, "line"};
  }
};

}  // namespace

TEST_CASE("the command of a job of several nodes is told of them, and has parts run there") {
  Spanning group;
  const Answer begins = group(group.of("a"));
  REQUIRE(begins.orders.size() == 1);
  CHECK(begins.orders[0].hosts == std::vector<std::string>{"a=h-a", "b=h-b", "c=h-c"});
  CHECK(group(group.of("b")).orders.empty());
  for (const char* name : {"a", "b", "c"}) CHECK(group.state.nodes().at(name).used == 2);
  group(group.leading({{group.id, 1, 5}}, {group.asked(5, "b")}));
  const Answer told = group(group.of("b"));
  REQUIRE(told.orders.size() == 1);
  CHECK(told.orders[0].attempt == Attempt{group.id, 1, 5});
  CHECK(told.orders[0].spec->command == std::vector<std::string>{"agent"});
  CHECK(told.orders[0].input == "line");
  CHECK(group(group.of("c")).orders.empty());
  // Its end is told as long as it is wanted.
  Report ends = group.of("b");
  ends.has = {{group.id, 1, 5}};
  ends.ended = {{{group.id, 1, 5}, End::exited, 3, "ended with status 3"}};
  CHECK(group(ends).orders.empty());
  for (int i = 0; i < 2; ++i) {
    const Answer over = group(group.leading({{group.id, 1, 5}}));
    REQUIRE(over.ended.size() == 1);
    CHECK(over.ended[0].code == 3);
  }
  CHECK(group(group.leading({})).ended.empty());
  CHECK(group.job(group.id).parts.empty());
}

TEST_CASE("a part is refused to whoever may not have it") {
  Spanning group;
  const JobId other = group(Submit{{.name = "j", .command = {"x"}, .nodes = 2}}).job;
  const auto why = [&](const AskedPart& part) {
    const Answer answer = group(group.leading({part.part}, {part}));
    return answer.ended.empty() ? "" : answer.ended[0].why;
  };
  CHECK(why({{group.id, 1, 1}, "z", {"x"}, ""}) == "want a node of job 1, found 'z'");
  CHECK(why({{group.id, 1, 1}, "b", {}, ""}) == "want a program to run as a part, found none");
  CHECK(why({{group.id, 1, 1}, "b", {std::string(part_bytes_max, 'x')}, ""})
            .starts_with("want at most 16384 bytes of a part's words"));
  // Of an older attempt, of another job, of a node that does not lead it: nothing becomes of it.
  CHECK(why(group.asked(1, "b", 0)).empty());
  CHECK(why({{other, 1, 1}, "b", {"x"}, ""}).empty());
  Report stranger = group.of("b");
  stranger.wants = {{group.id, 1, 1}};
  stranger.asks = {group.asked(1, "c")};
  CHECK(group(stranger).ended.empty());
  CHECK(group.job(group.id).parts.empty());
  CHECK(group.job(other).parts.empty());
  std::vector<Attempt> wants;
  std::vector<AskedPart> asks;
  for (std::uint32_t i = 1; i <= 3 * parts_max + 1; ++i) {
    asks.push_back(group.asked(i, "b"));
    wants.push_back(asks.back().part);
  }
  CHECK(group(group.leading(wants, asks)).ended.at(0).why ==
        "want at most 24 parts of job 1 at a time");
}

TEST_CASE("the next attempt begins when each node has said that it has nothing of the last one") {
  Spanning group;
  group.join("d");
  group(group.leading({{1, 1, 1}, {1, 1, 2}}, {group.asked(1, "b"), group.asked(2, "c")}));
  group(group.of("b")), group(group.of("c"));
  Report late = group.of("c");
  Report has = group.of("c");
  has.has = {{1, 1, 2}};
  group(has);
  // The leading node is not heard of any more.
  for (int i = 0; i < 11; ++i) {
    group.pass(500);
    for (const char* name : {"b", "c", "d"}) {
      Report report = group.of(name);
      if (name[0] != 'd') report.has = {{1, 1, name[0] == 'b' ? 1u : 2u}};
      group(report);
    }
  }
  CHECK(group.job(1).state == JobState::ending);
  CHECK(group(group.of("b")).orders.empty());
  CHECK(group.job(1).state == JobState::ending);
  // It was asked before the part was begun there, and says nothing.
  group(late);
  CHECK(group.job(1).state == JobState::ending);
  Report ends = group.of("c");
  ends.has = {{1, 1, 2}};
  CHECK(group(ends).orders.empty());
  CHECK(group.job(1).state == JobState::ending);
  ends = group.of("c");
  ends.ended = {{{1, 1, 2}, End::exited, 137, "ended"}};
  group(ends);
  CHECK(group.job(1).state == JobState::running);
  CHECK(group.job(1).attempt == 2);
  CHECK(group.job(1).losses == 1);
  CHECK_FALSE(has_node(group.job(1), "a"));
}

TEST_CASE("when another node of it is lost a job goes on, and may ask for a part there again") {
  Spanning group;
  group(group.leading({{1, 1, 1}}, {group.asked(1, "b")}));
  for (int i = 0; i < 11; ++i) {
    group.pass(500);
    group(group.leading({{1, 1, 1}}));
    group(group.of("c"));
  }
  CHECK(group.job(1).state == JobState::running);
  const Answer told = group(group.leading({{1, 1, 1}}));
  REQUIRE(told.ended.size() == 1);
  CHECK(told.ended[0].why == "the node b was not heard of for 5000 ms");
  CHECK(group(group.leading({{1, 1, 2}}, {group.asked(2, "b")})).ended.at(0).why ==
        "the node b is not heard of");
  group.join("b", 2);
  group(group.leading({{1, 1, 3}}, {group.asked(3, "b")}));
  CHECK(group(Report{.node = "b", .incarnation = 2, .number = 1}).orders.size() == 1);
}

TEST_CASE("a job leaves as a whole when one of its nodes drains") {
  Spanning group;
  group(Drain{"c", true});
  CHECK(group(group.leading({})).orders.at(0).leave);
  Report ends = group.leading({});
  ends.ended = {exited(1, 1, 75)};
  group(ends);
  CHECK(group.job(1).state == JobState::waiting);
  CHECK(group.job(1).why.starts_with("waits for 3 nodes of 2 slots that are there: there are 2"));
}

TEST_CASE("a job that follows its nodes does without one that drains, and gets another one") {
  Spanning group({follows_nodes_variable});
  group(group.leading({{1, 1, 1}}, {group.asked(1, "b")}));
  Report has = group.of("b");
  has.has = {{1, 1, 1}};
  group(has);
  group(Drain{"b", true});
  Answer told = group(group.leading({{1, 1, 1}}));
  CHECK_FALSE(told.orders.at(0).leave);
  CHECK(told.orders[0].hosts == std::vector<std::string>{"a=h-a", "c=h-c"});
  CHECK(group.job(1).why == "runs on 2 of 3 nodes, and waits for 2 slots of another one");
  has.number = group.of("b").number;
  CHECK(group(has).orders.at(0).leave);
  CHECK(group.state.nodes().at("b").used == 2);
  CHECK(group(Forget{"b"}).verdict == Verdict::refused);
  SUBCASE("a new node") {
    group.join("d");
    told = group(group.leading({{1, 1, 1}}));
    CHECK(told.orders.at(0).hosts == std::vector<std::string>{"a=h-a", "c=h-c", "d=h-d"});
    CHECK(group.job(1).why.empty());
    CHECK(group.job(1).attempt == 1);
    CHECK(group.state.nodes().at("d").used == 2);
    // There it may have parts, and not any more on the one that was left.
    told = group(group.leading({{1, 1, 1}, {1, 1, 2}, {1, 1, 3}},
                               {group.asked(2, "d"), group.asked(3, "b")}));
    REQUIRE(told.ended.size() == 1);
    CHECK(told.ended[0].why == "want a node of job 1, found 'b'");
  }
  SUBCASE("the same one, once its part has ended") {
    group(Drain{"b", false});
    CHECK(group.job(1).others == std::vector<std::string>{"c"});
    Report ends = group.of("b");
    ends.ended = {{{1, 1, 1}, End::exited, 0, "ended with status 0"}};
    group(ends);
    CHECK(group.job(1).others == std::vector<std::string>{"c", "b"});
  }
  SUBCASE("its first node leaves, and so does all of it") {
    group(Drain{"a", true});
    CHECK(group(group.leading({})).orders.at(0).leave);
  }
}

TEST_CASE("a job that follows its nodes gets another one for one that is lost") {
  Spanning group({follows_nodes_variable});
  group.join("d");
  for (int i = 0; i < 11; ++i) {
    group.pass(500);
    group(group.leading({}));
    group(group.of("c"));
    group(group.of("d"));
  }
  CHECK(group.job(1).attempt == 1);
  CHECK(group.job(1).others == std::vector<std::string>{"c", "d"});
}

TEST_CASE("whoever follows a job is told once there is something new of it") {
  Group group;
  const JobId id = group.submit();
  const auto look = [&](std::uint64_t mark, std::uint64_t now_ms) {
    const Buffer reply = group.state.query(encode(Operation(AwaitJob{id, mark, now_ms})));
    const auto answer = decode_answer(reply);
    REQUIRE(answer.ok());
    CHECK(group.state.has_news(reply) == (answer->mark != 0));
    return *answer;
  };
  const Answer first = look(0, 0);
  CHECK(first.jobs.at(0).state == JobState::waiting);
  CHECK(look(first.mark, first.now_ms).mark == 0);
  group.join("a");
  const Answer runs = look(first.mark, first.now_ms);
  CHECK(runs.jobs.at(0).state == JobState::running);
  // A replica that is behind what was told has no news.
  CHECK(look(first.mark, runs.now_ms + 1).mark == 0);
  Report says{.node = "a", .incarnation = 1, .number = 1, .has = {{id, 1}}};
  const auto before = group.state.changes();
  group(says);
  CHECK(group.state.changes() == before);  // A lease is renewed: nobody need look again.
  says.said = {{{id, 1}, 0, "hello"}};
  group(says);
  CHECK(group.state.changes() != before);
  const Answer said = look(runs.mark, runs.now_ms);
  CHECK(said.jobs.at(0).output == "hello");
  CHECK(look(said.mark, said.now_ms).mark == 0);
  const Buffer none = group.state.query(encode(Operation(AwaitJob{99, 0, 0})));
  CHECK(group.state.has_news(none));
  CHECK(decode_answer(none)->why == "there is no job 99");
}

TEST_CASE(
    "what a user has run beside a command runs on its node, and whoever waits is told its end") {
  Spanning group;
  const JobId waits = group(Submit{{.name = "j", .command = {"x"}, .slots = 2}}).job;
  const auto why = [&](JobId job, std::vector<std::string> command) {
    return group(RunBeside{job, std::move(command)}).why;
  };
  CHECK(why(group.id, {}) == "want a program to run as a part, found none");
  CHECK(why(99, {"x"}) == "there is no job 99");
  CHECK(why(waits, {"x"}) == "job 2 waits for a place: want one that runs");

  const Answer asked = group(RunBeside{group.id, {"ask", "it"}});
  REQUIRE(asked.verdict == Verdict::done);
  const Attempt attempt{group.id, 1, first_beside};
  CHECK(asked.jobs.at(0).parts.rbegin()->first == first_beside);
  const Answer told = group(group.leading({}));
  REQUIRE(told.orders.size() == 2);
  CHECK(told.orders[1].attempt == attempt);
  CHECK(told.orders[1].spec->command == std::vector<std::string>{"ask", "it"});
  CHECK(group(group.of("b")).orders.empty());
  // Not of the command, which need not want it; and no place more.
  CHECK(group(group.leading({})).orders.size() == 2);
  CHECK(group.state.nodes().at("a").used == 2);

  const auto look = [&](std::uint64_t mark) {
    return *decode_answer(group.state.query(encode(Operation(AwaitJob{group.id, mark, 0}))));
  };
  const Answer before = look(0);
  CHECK(look(before.mark).mark == 0);
  Report ends = group.leading({});
  ends.has.push_back(attempt);
  ends.ended = {{attempt, End::exited, 3, "no"}};
  CHECK(group(ends).orders.size() == 1);
  const Answer after = look(before.mark);
  CHECK(after.mark != 0);
  CHECK(after.jobs.at(0).parts.at(first_beside).ended->why == "no");

  // A few at a time, and the last few are remembered; numbers go on.
  for (std::size_t i = 0; i < beside_max; ++i) {
    CHECK(why(group.id, {"x"}).empty());
  }
  CHECK(why(group.id, {"x"}) == "want at most 4 at a time that are run beside job 1, found 4");
  Report all = group.leading({});
  for (std::uint32_t i = 1; i <= beside_max; ++i) {
    all.ended.push_back({{group.id, 1, first_beside + i}, End::exited, 0, ""});
  }
  group(all);
  CHECK(group(RunBeside{group.id, {"x"}}).jobs.at(0).parts.rbegin()->first == first_beside + 5);
  CHECK(group.job(group.id).parts.size() == beside_max);

  // It ends with the attempt.
  group(Cancel{group.id});
  CHECK(why(group.id, {"x"}) == "job 1 is to end: want one that goes on");
  Report over = group.leading({});
  over.has.push_back({group.id, 1, first_beside + 5});
  over.ended = {exited(group.id, 1, 75)};
  group(over);
  CHECK(group.job(group.id).state == JobState::ending);
  Report gone = group.of("a");
  group(gone);
  CHECK(group.job(group.id).state == JobState::cancelled);
  CHECK(why(group.id, {"x"}) == "job 1 is over: want one that runs");
}

TEST_CASE("a command has no part with a number of those that users ask for") {
  Spanning group;
  const Answer answer =
      group(group.leading({{group.id, 1, first_beside}}, {group.asked(first_beside, "b")}));
  CHECK(answer.ended.at(0).why ==
        "want a part with a number from 1 to 2147483647, found 2147483648");
}

TEST_CASE("a replica that comes late has the same state") {
  Group group;
  group.join("a");
  for (int i = 0; i < 5; ++i) group.submit();
  group.join("b");
  const JobId id = group(Submit{{.name = "j", .command = {"x"}, .nodes = 2}}).job;
  CHECK(group.job(id).state == JobState::waiting);
  group.pass(1'000);
  const Buffer image = smr::bytes_of(group.state.snapshot());
  ClusterState late;
  REQUIRE(late.restore(image));
  CHECK(as_text(smr::bytes_of(late.snapshot())) == as_text(image));
  CHECK(late.next_deadline() == group.state.next_deadline());
  Buffer half(Bytes(image).first(image.size() / 2));
  CHECK_FALSE(late.restore(half));
  CHECK(as_text(smr::bytes_of(late.snapshot())) == as_text(image));
}

TEST_CASE("a node speaks for itself alone, and asks for no jobs") {
  Group group;
  group.join("a");
  group.join("b");
  const JobId id = group.submit();
  const std::string where = group.job(id).node;
  const std::uint64_t other = testing::client_of(where == "a" ? "b" : "a");
  const auto refused = [&](std::uint64_t client, const Operation& operation) {
    const Buffer before = smr::bytes_of(group.state.snapshot());
    const Answer answer = group.says(client, operation);
    CHECK(as_text(smr::bytes_of(group.state.snapshot())) == as_text(before));
    return answer.verdict == Verdict::refused ? answer.why : "it was done";
  };
  const std::string has_another = "the node " + where + " has another key";
  CHECK(refused(other, Report{.node = where, .incarnation = 1, .ended = {exited(id, 1, 0)}}) ==
        has_another);
  CHECK(refused(other, Leave{where, 1}) == has_another);
  CHECK(refused(other, Join{where, 2, 2, "/d", ""}) == has_another);
  CHECK(refused(testing::client_of("a"), Join{"c", 1, 2, "/d", ""}) ==
        "want one node for a key, found that of the node a");
  const std::string of_user = "want the key of a user for that (user.key), found a node's";
  CHECK(refused(other, Submit{{.name = "j", .command = {"true"}}}) == of_user);
  CHECK(refused(other, Cancel{id}) == of_user);
  CHECK(refused(other, Drain{"a", true}) == of_user);
  CHECK(refused(other, Forget{"a"}) == of_user);
  CHECK(refused(first_client, Join{"c", 1, 2, "/d", ""}) ==
        "want the key of a node for that, found that of the user admin");
}

TEST_CASE("a node that was dismissed may come again with another key") {
  Group group;
  group.join("a");
  group(Leave{"a", 1});
  CHECK(group.says(77, Join{"a", 2, 2, "/d", ""}).verdict == Verdict::refused);
  group(Forget{"a"});
  CHECK(group.says(77, Join{"a", 2, 2, "/d", ""}).verdict == Verdict::done);
}

TEST_CASE("bytes that are no operation change nothing and are answered") {
  Group group;
  group.join("a");
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
    const smr::Context context{.client = testing::client_of("a")};
    CHECK(decode_answer(group.state.apply(changed, context)).ok());
    CHECK(decode_answer(group.state.query(changed)).ok());
  }
}
