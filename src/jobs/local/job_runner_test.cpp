#include "jobs/local/job_runner.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::jobs;

namespace {

using std::chrono::milliseconds;

template <class T>
std::vector<T> all_of(const std::vector<JobRunner::Action>& actions) {
  std::vector<T> found;
  for (const auto& action : actions) {
    if (const auto* one = std::get_if<T>(&action)) found.push_back(*one);
  }
  return found;
}

/// A node and the time.
struct Driver {
  JobRunner runner{{.node = "a", .incarnation = 7, .slots = 2, .directory = "/d"}};
  Time time{milliseconds(1)};
  std::uint64_t question = 0;
  Operation asked;

  std::vector<JobRunner::Action> step(const JobRunner::Event& event) {
    auto actions = runner.step(time, event);
    for (const auto& ask : all_of<JobRunner::Ask>(actions)) {
      question = ask.question;
      asked = ask.operation;
    }
    return actions;
  }
  std::vector<JobRunner::Action> answer(const Answer& answer) {
    return step(JobRunner::Answered{question, answer});
  }
  std::vector<JobRunner::Action> wake() {
    const auto next = runner.next_deadline();
    REQUIRE(next);
    time = *next;
    return step(JobRunner::Woken{});
  }
  std::vector<JobRunner::Action> pass(milliseconds by) {
    time += by;
    return step(JobRunner::Woken{});
  }
};

const JobSpec spec{.name = "j", .command = {"true"}};
Order order(JobId id, std::uint32_t attempt = 1, bool leave = false) {
  return {{id, attempt}, leave, spec, "", {}};
}
Order part(JobId id, std::uint32_t number) { return {{id, 1, number}, false, spec, "line", {}}; }

}  // namespace

TEST_CASE("a node joins, and runs what it is told") {
  Driver node;
  node.step(JobRunner::Began{});
  REQUIRE(std::holds_alternative<Join>(node.asked));
  const auto actions = node.answer({.orders = {order(1), order(2)}});
  CHECK(all_of<JobRunner::Launch>(actions).size() == 2);
  // From when it was asked, not from when it was answered.
  CHECK(all_of<JobRunner::Extend>(actions)[0].until == milliseconds(1) + milliseconds(fence_ms));
  node.wake();
  REQUIRE(std::holds_alternative<Report>(node.asked));
  CHECK(std::get<Report>(node.asked).has.size() == 2);
  CHECK(all_of<JobRunner::Launch>(node.answer({.orders = {order(1), order(2)}})).empty());
}

TEST_CASE("an end is told until it is answered") {
  Driver node;
  node.step(JobRunner::Began{});
  node.answer({.orders = {order(1)}});
  node.step(JobRunner::Over{{{1, 1}, End::exited, 3, "ended with status 3"}});
  REQUIRE(std::get<Report>(node.asked).ended.size() == 1);
  node.step(JobRunner::Answered{node.question, Error{Errc::timeout, "no answer"}});
  node.wake();
  REQUIRE(std::get<Report>(node.asked).ended.size() == 1);
  node.answer({});
  node.wake();
  CHECK(std::get<Report>(node.asked).ended.empty());
  CHECK(std::get<Report>(node.asked).has.empty());
}

TEST_CASE("what is to leave is asked to, and ended when it does not") {
  Driver node;
  node.step(JobRunner::Began{});
  node.answer({.orders = {order(1)}});
  node.wake();
  const auto asked = all_of<JobRunner::Terminate>(node.answer({.orders = {order(1, 1, true)}}));
  REQUIRE(asked.size() == 1);
  CHECK_FALSE(asked[0].at_once);
  const auto killed = all_of<JobRunner::Terminate>(node.pass(std::chrono::seconds(31)));
  REQUIRE(killed.size() == 1);
  CHECK(killed[0].at_once);
}

TEST_CASE("whoever learns how long leaving takes is told of all that leaves, and of what stays") {
  Driver node;
  const auto leaves = [](const std::vector<JobRunner::Action>& actions) {
    std::string all;
    for (const auto& one : all_of<JobRunner::Leaves>(actions)) {
      all += (one.does ? "+" : "-") + std::to_string(one.attempt.job) + "." +
             std::to_string(one.attempt.part) + " ";
    }
    return all;
  };
  node.step(JobRunner::Began{});
  CHECK(leaves(node.answer({.orders = {order(1), part(2, 9)}})).empty());
  SUBCASE("its window closes: a command is told to leave, and a part has to leave with its own") {
    CHECK(leaves(node.step(JobRunner::LentSeen{false, std::nullopt, "its user is there"})) ==
          "+1.0 +2.9 ");
    CHECK(leaves(node.answer({.orders = {order(1, 1, true), part(2, 9)}})).empty());
  }
  SUBCASE("the group says that a part is to leave before its command") {
    Order goes = part(2, 9);
    goes.leave = true;
    node.wake();
    CHECK(leaves(node.answer({.orders = {order(1), goes}})) == "+2.9 ");
  }
  SUBCASE("a window that opens again lets a part stay") {
    node.step(JobRunner::LentSeen{false, std::nullopt, "its user is there"});
    node.step(JobRunner::LentSeen{});
    CHECK(leaves(node.answer({.orders = {order(1), part(2, 9)}})) == "-2.9 ");
  }
  SUBCASE("what is killed does not leave") {
    node.wake();
    CHECK(leaves(node.answer({})).empty());
  }
}

TEST_CASE("what is not wanted any more is ended at once, and not told of") {
  Driver node;
  node.step(JobRunner::Began{});
  node.answer({.orders = {order(1)}});
  node.wake();
  CHECK(all_of<JobRunner::Terminate>(node.answer({})).at(0).at_once);
  node.step(JobRunner::Over{{{1, 1}, End::exited, 137, ""}});
  node.answer({});
  CHECK(node.runner.running() == 0);
}

TEST_CASE("a later attempt begins when nothing of the one before is alive") {
  Driver node;
  node.step(JobRunner::Began{});
  node.answer({.orders = {order(1)}});
  node.wake();
  const auto actions = node.answer({.orders = {order(1, 2)}});
  CHECK(all_of<JobRunner::Launch>(actions).empty());
  CHECK(all_of<JobRunner::Terminate>(actions).size() == 1);
  node.step(JobRunner::Over{{{1, 1}, End::fenced, 137, ""}});
  CHECK(all_of<JobRunner::Launch>(node.answer({.orders = {order(1, 2)}})).size() == 1);
}

TEST_CASE("a node whose name another process has ends what it runs") {
  Driver node;
  node.step(JobRunner::Began{});
  node.answer({.orders = {order(1)}});
  node.wake();
  const auto actions = node.answer({.verdict = Answer::Verdict::stranger, .why = "another one"});
  CHECK(all_of<JobRunner::Terminate>(actions).at(0).at_once);
  CHECK_FALSE(node.runner.joined());
  node.wake();
  CHECK(std::holds_alternative<Join>(node.asked));
}

TEST_CASE("nothing is begun on an answer that comes too late") {
  Driver node;
  node.step(JobRunner::Began{});
  node.time += milliseconds(fence_ms);
  const auto late = node.answer({.orders = {order(1)}});
  CHECK(all_of<JobRunner::Launch>(late).empty());
  CHECK(all_of<JobRunner::Extend>(late).empty());
  CHECK(all_of<JobRunner::Ask>(late).size() == 1);
  CHECK(all_of<JobRunner::Launch>(node.answer({.orders = {order(1)}})).size() == 1);
}

TEST_CASE("a node that is to leave ends its jobs, tells of them, and goes") {
  Driver node;
  node.step(JobRunner::Began{});
  node.answer({.orders = {order(1)}});
  node.wake();
  node.answer({.orders = {order(1)}});
  CHECK_FALSE(all_of<JobRunner::Terminate>(node.step(JobRunner::LeaveAsked{})).at(0).at_once);
  CHECK(std::get<Report>(node.asked).leaving);
  // What comes meanwhile is not begun.
  CHECK(all_of<JobRunner::Launch>(node.answer({.orders = {order(1, 1, true), order(2)}})).empty());
  CHECK(std::get<Report>(node.asked).ended.size() == 1);
  node.step(JobRunner::Over{{{1, 1}, End::exited, 75, ""}});
  node.answer({.orders = {order(1, 1, true)}});
  REQUIRE(std::get<Report>(node.asked).ended.size() == 1);
  CHECK(std::get<Report>(node.asked).ended[0].attempt == Attempt{1, 1});
  node.answer({});
  REQUIRE(std::holds_alternative<Leave>(node.asked));
  CHECK(all_of<JobRunner::Finish>(node.answer({})).size() == 1);
  CHECK_FALSE(node.runner.next_deadline());
}

TEST_CASE("a node that is to leave waits for its jobs, and not for the group") {
  Driver node;
  node.step(JobRunner::Began{});
  node.answer({.orders = {order(1)}});
  node.step(JobRunner::LeaveAsked{});
  node.step(JobRunner::Answered{node.question, Error{Errc::timeout, "no answer"}});
  node.step(JobRunner::Over{{{1, 1}, End::exited, 75, ""}});
  const auto actions =
      node.step(JobRunner::Answered{node.question, Error{Errc::timeout, "no answer"}});
  CHECK(all_of<JobRunner::Finish>(actions).size() == 1);
}

TEST_CASE("a part is asked for until that is answered, and wanted until it has ended") {
  Driver node;
  node.step(JobRunner::Began{});
  node.answer({.orders = {order(1)}});
  node.step(JobRunner::PartAsked{{{1, 1, 4}, "b", {"x"}, "line"}});
  REQUIRE(std::get<Report>(node.asked).asks.size() == 1);
  node.step(JobRunner::Answered{node.question, Error{Errc::timeout, "no answer"}});
  node.wake();
  REQUIRE(std::get<Report>(node.asked).asks.size() == 1);
  node.answer({.orders = {order(1)}});
  node.wake();
  CHECK(std::get<Report>(node.asked).asks.empty());
  CHECK(std::get<Report>(node.asked).wants == std::vector<Attempt>{{1, 1, 4}});
  const auto over = all_of<JobRunner::PartOver>(
      node.answer({.orders = {order(1)}, .ended = {{{1, 1, 4}, End::exited, 3, "ended"}}}));
  REQUIRE(over.size() == 1);
  CHECK(over[0].ended.code == 3);
  CHECK(std::get<Report>(node.asked).wants.empty());
}

TEST_CASE("a part that nobody waits for any more is not wanted") {
  Driver node;
  node.step(JobRunner::Began{});
  node.answer({.orders = {order(1)}});
  node.step(JobRunner::PartAsked{{{1, 1, 4}, "b", {"x"}, ""}});
  node.answer({.orders = {order(1)}});
  node.step(JobRunner::PartDropped{{1, 1, 4}});
  CHECK(std::get<Report>(node.asked).wants.empty());
  // Also when the command has ended.
  node.step(JobRunner::PartAsked{{{1, 1, 5}, "b", {"x"}, ""}});
  node.answer({.orders = {order(1)}});
  node.step(JobRunner::Over{{{1, 1}, End::exited, 0, ""}});
  node.answer({.orders = {order(1)}});
  CHECK(std::get<Report>(node.asked).wants.empty());
}

TEST_CASE("whoever does not run here gets no part") {
  Driver node;
  node.step(JobRunner::Began{});
  node.answer({.orders = {order(1)}});
  const auto refused =
      all_of<JobRunner::PartOver>(node.step(JobRunner::PartAsked{{{1, 2, 4}, "b", {"x"}, ""}}));
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].ended.why == "attempt 2 of job 1 does not run on the node a");
}

TEST_CASE("parts run beside a command, and outlive the wish of their node to leave") {
  Driver node;
  node.step(JobRunner::Began{});
  const auto begun =
      all_of<JobRunner::Launch>(node.answer({.orders = {order(1), part(1, 3), part(2, 1)}}));
  REQUIRE(begun.size() == 3);
  CHECK(begun[1].attempt == Attempt{1, 1, 3});
  CHECK(begun[1].input == "line");
  const auto asked = all_of<JobRunner::Terminate>(node.step(JobRunner::LeaveAsked{}));
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].attempt == Attempt{1, 1});
  // Its command has ended there.
  const auto ended = all_of<JobRunner::Terminate>(node.answer({.orders = {order(1, 1, true)}}));
  CHECK(ended.size() == 2);
  CHECK(ended[0].at_once);
}

TEST_CASE("a part that is to leave before its command is asked to, also after its node was") {
  Driver node;
  node.step(JobRunner::Began{});
  node.answer({.orders = {part(1, 3)}});
  CHECK(all_of<JobRunner::Terminate>(node.step(JobRunner::LeaveAsked{})).empty());
  Order leaves = part(1, 3);
  leaves.leave = true;
  const auto asked = all_of<JobRunner::Terminate>(node.answer({.orders = {leaves}}));
  REQUIRE(asked.size() == 1);
  CHECK_FALSE(asked[0].at_once);
  node.wake();
  CHECK(all_of<JobRunner::Terminate>(node.answer({.orders = {leaves}})).empty());
}

TEST_CASE(
    "a command whose job goes on without this node is not asked to end, and ended when it stays") {
  Driver node;
  node.step(JobRunner::Began{});
  Order begins = order(1);
  begins.spec->nodes = 3;
  begins.spec->environment = {follows_nodes_variable, "PIRACEMA_COORDINATORS=3"};
  begins.hosts = {{"a", "1"}, {"b", "2"}, {"c", "3"}};
  node.answer({.orders = {begins}});
  Order leaves{
      .attempt = {1, 1}, .hosts = {{"b", "2"}, {"c", "3"}, {"d", "4"}}, .hands_over = true};
  const auto no_signal = [](const std::vector<JobRunner::Action>& actions) {
    return all_of<JobRunner::Terminate>(actions).empty();
  };
  SUBCASE("the group says so") {
    node.wake();
    const auto actions = node.answer({.orders = {leaves}});
    CHECK(all_of<JobRunner::HostsChanged>(actions).at(0).hosts == leaves.hosts);
    CHECK(no_signal(actions));
  }
  SUBCASE("the node is to leave, and the group says so then") {
    CHECK(no_signal(node.step(JobRunner::LeaveAsked{})));
    CHECK(no_signal(node.answer({.orders = {leaves}})));
  }
  SUBCASE("its machine is not lent any more, and the group says so then") {
    CHECK(no_signal(node.step(JobRunner::LentSeen{false, std::nullopt, "its user is there"})));
    CHECK(no_signal(node.answer({.orders = {leaves}})));
  }
  SUBCASE("the node is to leave, and too few others are there") {
    CHECK(no_signal(node.step(JobRunner::LeaveAsked{})));
    const auto ends = all_of<JobRunner::Terminate>(node.answer({.orders = {order(1, 1, true)}}));
    REQUIRE(ends.size() == 1);
    CHECK_FALSE(ends[0].at_once);
    return;
  }
  SUBCASE("the group says so, and then that all of it is to leave") {
    node.wake();
    node.answer({.orders = {leaves}});
    node.wake();
    CHECK(all_of<JobRunner::Terminate>(node.answer({.orders = {order(1, 1, true)}})).size() == 1);
    return;
  }
  SUBCASE("the group says so, and that it stays as the node drains no more") {
    node.wake();
    node.answer({.orders = {leaves}});
    node.wake();
    Order stays{.attempt = {1, 1}, .hosts = begins.hosts};
    CHECK(no_signal(node.answer({.orders = {stays}})));
    CHECK(no_signal(node.pass(std::chrono::seconds(30))));
    return;
  }
  SUBCASE("it may stay, and has left before it heard of that") {
    node.wake();
    node.answer({.orders = {leaves}});
    node.wake();
    Order stays{.attempt = {1, 1}, .hosts = begins.hosts};
    node.answer({.orders = {stays}});
    SUBCASE("as it was told") {
      node.step(JobRunner::Over{{{1, 1}, End::exited, 75, "ended with status 75"}});
      CHECK(std::get<Report>(node.asked).ended.at(0).end == End::left);
    }
    SUBCASE("by a failure of its own") {
      node.step(JobRunner::Over{{{1, 1}, End::exited, 1, "ended with status 1"}});
      CHECK(std::get<Report>(node.asked).ended.at(0).end == End::exited);
    }
    return;
  }
  SUBCASE("its machine is not lent any more, and is again") {
    node.step(JobRunner::LentSeen{false, std::nullopt, "its user is there"});
    node.step(JobRunner::LentSeen{});
    Order stays{.attempt = {1, 1}, .hosts = begins.hosts};
    CHECK(no_signal(node.answer({.orders = {stays}})));
    CHECK(no_signal(node.pass(std::chrono::seconds(30))));
    return;
  }
  SUBCASE("it ends by itself") {
    node.wake();
    node.answer({.orders = {leaves}});
    node.step(JobRunner::Over{{{1, 1}, End::exited, 75, "ended with status 75"}});
    CHECK(std::get<Report>(node.asked).ended.at(0).end == End::left);
    return;
  }
  const auto ends = all_of<JobRunner::Terminate>(node.pass(std::chrono::seconds(30)));
  REQUIRE(ends.size() == 1);
  CHECK(ends[0].at_once);
}

TEST_CASE("a command is told of other nodes once, and of those that it has begun with not at all") {
  Driver node;
  node.step(JobRunner::Began{});
  Order begins = order(1);
  begins.hosts = {{"a", "1"}, {"b", "2"}};
  CHECK(all_of<JobRunner::Launch>(node.answer({.orders = {begins}}))[0].hosts == begins.hosts);
  node.wake();
  CHECK(all_of<JobRunner::HostsChanged>(node.answer({.orders = {begins}})).empty());
  begins.hosts = {{"a", "1"}, {"c", "3"}};
  node.wake();
  const auto told = all_of<JobRunner::HostsChanged>(node.answer({.orders = {begins}}));
  REQUIRE(told.size() == 1);
  CHECK(told[0].hosts == begins.hosts);
  node.wake();
  CHECK(all_of<JobRunner::HostsChanged>(node.answer({.orders = {begins}})).empty());
}

TEST_CASE("a node asks as soon as it is told that there is news, and else as often as before") {
  Driver node;
  node.step(JobRunner::Began{});
  const auto actions = node.answer({.now_ms = 5, .mark = 7});
  const auto awaits = all_of<JobRunner::Await>(actions);
  REQUIRE(awaits.size() == 1);
  const auto& question = std::get<AwaitOrders>(awaits[0].operation);
  CHECK(question.mark == 7);
  CHECK(question.now_ms == 5);
  node.time += milliseconds(10);
  SUBCASE("news") {
    const auto asks = all_of<JobRunner::Ask>(
        node.step(JobRunner::Awaited{awaits[0].question, Answer{.mark = 8}}));
    REQUIRE(asks.size() == 1);
    CHECK(std::holds_alternative<Report>(asks[0].operation));
    // The answer has the news: it waits for others.
    CHECK(all_of<JobRunner::Await>(node.answer({.mark = 8})).size() == 1);
  }
  SUBCASE("what its own report has brought is no news") {
    node.pass(milliseconds(490));
    CHECK(all_of<JobRunner::Await>(node.answer({.mark = 8})).empty());
    const auto after = node.step(JobRunner::Awaited{awaits[0].question, Answer{.mark = 8}});
    CHECK(all_of<JobRunner::Ask>(after).empty());
    CHECK(all_of<JobRunner::Await>(after).size() == 1);
  }
  SUBCASE("nothing, or no answer") {
    const auto after =
        node.step(JobRunner::Awaited{awaits[0].question, Error{Errc::timeout, "no answer"}});
    CHECK(after.empty());
    node.pass(milliseconds(490));
    CHECK(all_of<JobRunner::Await>(node.answer({.mark = 7})).size() == 1);
  }
}

TEST_CASE("jobs leave a machine that is lent as late as they can, and are ended before it closes") {
  using std::chrono::seconds;
  Driver node;
  node.step(JobRunner::LeavingTakes{seconds(4), milliseconds(300)});
  node.step(JobRunner::LentSeen{true, seconds(60), ""});
  node.step(JobRunner::Began{});
  CHECK(std::get<Join>(node.asked).lent.open);
  CHECK(std::get<Join>(node.asked).lent.closes_in_ms == 59'999);
  node.answer({.orders = {order(1), part(2, 1)}});
  const auto at = [&](Time time) {
    node.time = time;
    return all_of<JobRunner::Terminate>(node.step(JobRunner::Woken{}));
  };
  CHECK(at(seconds(56) - milliseconds(1)).empty());
  node.answer({.orders = {order(1), part(2, 1)}});
  const auto asked = at(seconds(56));
  REQUIRE(asked.size() == 1);  // The part ends with its command, elsewhere.
  CHECK_FALSE(asked[0].at_once);
  CHECK_FALSE(std::get<Report>(node.asked).lent.open);
  // Nothing begins in what is left, though it is ordered, and nothing lives longer.
  const auto told = node.answer({.orders = {order(1), part(2, 1), order(3)}});
  CHECK(all_of<JobRunner::Launch>(told).empty());
  CHECK(all_of<JobRunner::Extend>(told).at(0).until < seconds(60));
  const auto killed = at(seconds(60) - milliseconds(300));
  REQUIRE(killed.size() == 2);
  CHECK((killed[0].at_once && killed[1].at_once));
}

TEST_CASE("a job that has left says so, also when the machine is lent again by then") {
  Driver node;
  node.step(JobRunner::Began{});
  node.answer({.orders = {order(1)}});
  node.step(JobRunner::LentSeen{.is_lent = true, .gone_by = node.time + milliseconds(1'500)});
  node.pass(milliseconds(600));
  node.step(JobRunner::Over{{{1, 1}, End::exited, 75, "ended with status 75"}});
  node.step(JobRunner::LentSeen{});
  // Nothing of it was heard.
  node.step(JobRunner::Answered{node.question, Error{Errc::timeout, "no answer"}});
  const auto& report = std::get<Report>(node.asked);
  CHECK(report.lent.open);
  REQUIRE(report.ended.size() == 1);
  CHECK(report.ended[0].end == End::left);
  CHECK(report.ended[0].code == 75);
}

TEST_CASE("a machine that is lent again takes jobs again, and not in what was left of a window") {
  using std::chrono::seconds;
  Driver node;
  node.step(JobRunner::LeavingTakes{seconds(4), {}});
  node.step(JobRunner::LentSeen{true, seconds(60), ""});
  node.step(JobRunner::Began{});
  node.answer({});
  node.time = seconds(57);
  node.step(JobRunner::Woken{});
  CHECK_FALSE(node.runner.is_open());
  // What had to leave has left, and less would be enough now.
  node.step(JobRunner::LeavingTakes{seconds(1), {}});
  node.step(JobRunner::LentSeen{true, seconds(60) + milliseconds(2), ""});
  CHECK_FALSE(node.runner.is_open());
  node.time = seconds(60);
  node.step(JobRunner::LentSeen{false, seconds(60), "its user is there"});
  node.answer({});  // It comes too late, and so the node asks at once.
  CHECK(std::get<Report>(node.asked).lent.why == "its user is there");
  node.time = seconds(100);
  node.step(JobRunner::LentSeen{true, seconds(200), ""});
  CHECK(node.runner.is_open());
}

TEST_CASE("a node whose home is full says so, keeps what runs, and begins no command") {
  Driver node;
  node.step(JobRunner::RoomSeen{false});
  node.step(JobRunner::Began{});
  CHECK(std::get<Join>(node.asked).full);
  node.step(JobRunner::RoomSeen{true});
  node.answer({.orders = {order(1)}});
  CHECK_FALSE(std::get<Report>(node.asked).full);
  node.answer({.orders = {order(1)}});
  const auto full = node.step(JobRunner::RoomSeen{false});
  REQUIRE(all_of<JobRunner::Ask>(full).size() == 1);
  CHECK(std::get<Report>(node.asked).full);
  CHECK(std::get<Report>(node.asked).lent.open);
  CHECK(all_of<JobRunner::Terminate>(full).empty());
  CHECK(all_of<JobRunner::Tell>(full).at(0).is_warning);
  // It is looked for again and again, and said once.
  CHECK(node.step(JobRunner::RoomSeen{false}).empty());
  // What the group sent there before it knew is its own again; a part belongs to what runs.
  const auto told = node.answer({.orders = {order(1), part(1, 5), order(2)}});
  const auto begun = all_of<JobRunner::Launch>(told);
  REQUIRE(begun.size() == 1);
  CHECK(begun[0].attempt.part == 5);
  const auto& ended = std::get<Report>(node.asked).ended;
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].attempt == Attempt{2, 1});
  CHECK(ended[0].end == End::left);
  node.answer({.orders = {order(1), part(1, 5)}});
  node.step(JobRunner::RoomSeen{true});
  CHECK_FALSE(std::get<Report>(node.asked).full);
  CHECK(all_of<JobRunner::Launch>(node.answer({.orders = {order(1), part(1, 5), order(2, 2)}}))
            .size() == 1);
}

namespace {

/// A node on a machine whose user has just come: two jobs stand still for 40 s, and have to be gone
/// after 60. One does so by itself; a third job cannot, nor can a part.
struct WithUser : Driver {
  std::vector<JobRunner::Action> then;

  WithUser() {
    using std::chrono::seconds;
    step(JobRunner::LeavingTakes{seconds(4), milliseconds(300)});
    step(JobRunner::Began{});
    Order saved = order(2), stream = order(3);
    saved.spec->environment = {suspends_itself_variable};
    stream.spec->environment = {never_suspended_variable};
    answer({.orders = orders = {order(1), saved, stream, part(4, 9)}});
    then = step(
        JobRunner::LentSeen{false, time + seconds(60), "its user is there", time + seconds(40)});
  }
  Lent told() const { return std::get<Report>(asked).lent; }
  std::vector<JobRunner::Action> user_goes() {
    return step(JobRunner::LentSeen{false, std::nullopt, "as it is not idle", std::nullopt, true});
  }

  std::vector<Order> orders;
};

}  // namespace

TEST_CASE("where a user comes back jobs stand still that can, and the others leave at once") {
  WithUser node;
  const auto stopped = all_of<JobRunner::Suspend>(node.then);
  REQUIRE(stopped.size() == 2);
  CHECK(stopped[0].attempt.job == 1);
  CHECK_FALSE(stopped[0].by_itself);
  CHECK(stopped[1].attempt.job == 2);
  CHECK(stopped[1].by_itself);
  const auto asked = all_of<JobRunner::Terminate>(node.then);
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].attempt.job == 3);
  CHECK_FALSE(asked[0].at_once);
  CHECK(node.told().kept == Kept::stands_still);
  CHECK(node.told().closes_in_ms == 40'000);
  // Nothing begins there, and nothing is stopped twice.
  node.orders.push_back(order(5));
  const auto told = node.answer({.orders = node.orders});
  CHECK(all_of<JobRunner::Launch>(told).empty());
  CHECK(all_of<JobRunner::Suspend>(told).empty());
}

TEST_CASE("jobs that stood still go on when the user goes, and stand still again when he is back") {
  WithUser node;
  node.answer({.orders = node.orders});
  const auto went_on = node.user_goes();
  CHECK(all_of<JobRunner::Resume>(went_on).size() == 2);
  CHECK(all_of<JobRunner::Terminate>(went_on).empty());
  CHECK(node.told().kept == Kept::goes_on);
  CHECK(node.told().closes_in_ms == 0);
  // They are not ended by what was said before of when the machine has to be free.
  const auto later = node.pass(std::chrono::seconds(60));
  CHECK(std::ranges::none_of(all_of<JobRunner::Terminate>(later),
                             [](const auto& one) { return one.attempt.job < 3; }));
  node.answer({.orders = node.orders});
  CHECK(all_of<JobRunner::Suspend>(
            node.step(JobRunner::LentSeen{false, node.time + std::chrono::seconds(60), "user",
                                          node.time + std::chrono::seconds(40)}))
            .size() == 2);
  // Idle by now: what begins there is as before.
  node.step(JobRunner::LentSeen{});
  CHECK(node.runner.is_open());
}

TEST_CASE("jobs that stood still are asked to leave when the user stays, and ended by the grace") {
  WithUser node;
  node.answer({.orders = node.orders});
  const auto at = [&](std::chrono::seconds after) {
    node.time = milliseconds(1) + after;
    return all_of<JobRunner::Terminate>(node.step(JobRunner::Woken{}));
  };
  node.step(JobRunner::Over{{{3, 1}, End::exited, 75, ""}});
  CHECK(at(std::chrono::seconds(39)).size() == 1);  // What has not left in 30 s.
  const auto asked = at(std::chrono::seconds(40));
  REQUIRE(asked.size() == 2);
  CHECK_FALSE((asked[0].at_once || asked[1].at_once));
  node.answer({.orders = node.orders});
  node.pass(milliseconds(500));
  CHECK(node.told().kept == Kept::nothing);
  CHECK_FALSE(node.told().open);
  node.step(JobRunner::Over{{{1, 1}, End::exited, 143, ""}});
  // He goes a moment later: what was asked to leave does.
  CHECK(all_of<JobRunner::Resume>(node.user_goes()).empty());
  node.step(JobRunner::LentSeen{false, milliseconds(1) + std::chrono::seconds(60), "user"});
  const auto killed = at(std::chrono::seconds(60));
  REQUIRE(killed.size() == 1);
  CHECK(killed[0].attempt.job == 2);
  CHECK(killed[0].at_once);
}

TEST_CASE("what stands still is asked to leave when it is cancelled, or its node ends") {
  WithUser node;
  SUBCASE("cancelled") {
    node.orders[0].leave = true;
    const auto asked = all_of<JobRunner::Terminate>(node.answer({.orders = node.orders}));
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].attempt.job == 1);
    CHECK(all_of<JobRunner::Resume>(node.user_goes()).size() == 1);
  }
  SUBCASE("the node ends") {
    node.answer({.orders = node.orders});
    CHECK(all_of<JobRunner::Terminate>(node.step(JobRunner::LeaveAsked{})).size() == 2);
    CHECK(node.told().kept == Kept::nothing);
    CHECK(all_of<JobRunner::Resume>(node.user_goes()).empty());
  }
}

TEST_CASE("a node on which nothing stands still says nothing of it") {
  WithUser node;
  node.answer({.orders = node.orders});
  for (const JobId job : {1, 2}) {
    node.step(JobRunner::Over{{{job, 1}, End::exited, 0, ""}});
  }
  node.answer({.orders = node.orders});
  CHECK(node.told().kept == Kept::nothing);
  CHECK(node.told().closes_in_ms == 0);
}
