#include "jobs/state/stream_board.h"

#include <doctest/doctest.h>

#include "jobs/protocol/testing.h"
#include "jobs/state/cluster_state.h"

using namespace piracema;
using namespace piracema::jobs;

namespace {

using Verdict = Answer::Verdict;

const auto all_run = [](const Attempt&) { return true; };

/// A replica that leads, with two nodes.
struct Leader {
  ClusterState state;
  std::uint64_t clock = 1'000'000;

  Answer order(const Operation& operation) {
    return *decode_answer(state.apply(
        encode(operation),
        {.time = clock * 1'000'000, .client = jobs::testing::honest_client(operation)}));
  }
  Answer ask(const Operation& operation) const {
    return *decode_answer(state.query(encode(operation)));
  }
  Leader() {
    order(Join{"a", 4711, 2, "/d", "h"});
    order(Join{"b", 815, 2, "/d", "h"});
  }
  JobId submit(const std::string& node) {
    return order(Submit{{.name = "j", .command = {"true"}, .node = node}}).job;
  }
};

}  // namespace

TEST_CASE("what was said of a job last is what is known, in the order of jobs and piece by piece") {
  StreamBoard board;
  board.put({.attempt = {9, 1}, .items = 1}, 100);
  board.put({.attempt = {7, 1}, .items = 2}, 110);
  board.put({.attempt = {9, 1}, .items = 3}, 120);
  const auto all = board.from(0, 1 << 20, 130, all_run);
  REQUIRE(all.sights.size() == 2);
  CHECK(all.next == 0);
  CHECK(all.sights[0].attempt.job == 7);
  CHECK(all.sights[1].items == 3);
  CHECK(all.sights[1].told_ms == 120);
  const auto first = board.from(0, 1, 130, all_run);
  CHECK(first.sights.size() == 1);
  CHECK(first.next == 9);
  CHECK(board.from(first.next, 1, 130, all_run).sights.size() == 1);
}

TEST_CASE("jobs that run no more are forgotten") {
  StreamBoard board;
  board.put({.attempt = {7, 1}}, 100);
  board.put({.attempt = {9, 1}}, 100);
  CHECK(board.from(0, 1'000, 110, [](const Attempt& one) { return one.job == 9; }).sights.size() ==
        1);
  CHECK(board.from(0, 1'000, 110, all_run).sights.size() == 1);
}

TEST_CASE("nodes learn that somebody asks, and that nobody does any more") {
  StreamBoard board;
  CHECK_FALSE(board.is_watched(100'000));
  board.from(0, 1'000, 100'000, all_run);
  CHECK(board.is_watched(100'000));
  CHECK(board.is_watched(109'999));
  CHECK_FALSE(board.is_watched(110'000));
}

TEST_CASE("more streams than it keeps push out only those that nobody tells of any more") {
  StreamBoard board;
  for (JobId job = 1; job <= StreamBoard::streams_max; ++job)
    board.put({.attempt = {job, 1}}, 1'000);
  const auto known = [&](JobId job) {
    const auto some = board.from(job, 1, 0, all_run).sights;
    return !some.empty() && some.front().attempt.job == job;
  };
  const JobId one_more = StreamBoard::streams_max + 1;
  board.put({.attempt = {one_more, 1}}, 2'000);
  CHECK_FALSE(known(one_more));
  board.put({.attempt = {one_more, 1}}, 20'000);
  CHECK(known(one_more));
  CHECK_FALSE(known(1));
}

TEST_CASE("a node tells of the newest attempts of its own jobs, and nobody tells for it") {
  Leader leader;
  const JobId job = leader.submit("a");
  const auto known = [&] { return leader.ask(ListStreams{}).streams.size(); };
  const std::vector<StreamSight> sights{{.attempt = {job, 1}, .items = 5}};
  CHECK(leader.ask(TellStreams{"a", 1, sights}).verdict == Verdict::stranger);
  CHECK(leader.ask(TellStreams{"a", 0, sights}).verdict == Verdict::stranger);
  CHECK(leader.ask(TellStreams{"c", 4711, sights}).verdict == Verdict::stranger);
  CHECK(leader.ask(TellStreams{"b", 815, sights}).verdict == Verdict::done);
  CHECK(leader.ask(TellStreams{"a", 4711, {{.attempt = {job, 2}}}}).verdict == Verdict::done);
  CHECK(leader.ask(TellStreams{"a", 4711, {{.attempt = {job + 1, 1}}}}).verdict == Verdict::done);
  CHECK(known() == 0);
  CHECK(leader.ask(TellStreams{"a", 4711, sights}).mark == 1);
  REQUIRE(known() == 1);
  CHECK(leader.ask(ListStreams{}).streams.front().items == 5);
  CHECK(leader.ask(ListStreams{job + 1}).streams.empty());
  leader.order(Report{.node = "a",
                      .incarnation = 4711,
                      .number = 9,
                      .ended = {{{job, 1}, End::exited, 0, "ended"}}});
  CHECK(known() == 0);
}

TEST_CASE("the number by which a node is known is told to nobody") {
  const Leader leader;
  for (const Node& node : leader.ask(ListNodes{}).nodes) CHECK(node.incarnation == 1);
}

TEST_CASE("what is told of streams is no part of the state, and nothing of it is ordered") {
  Leader leader;
  const JobId job = leader.submit("a");
  const auto image = [&] { return std::string(as_text(smr::bytes_of(leader.state.snapshot()))); };
  const std::string before = image();
  const TellStreams tell{"a", 4711, {{.attempt = {job, 1}}}};
  CHECK(leader.ask(tell).verdict == Verdict::done);
  CHECK(image() == before);
  const auto changes = leader.state.changes();
  // Two replicas would answer it in two ways.
  CHECK(leader.order(tell).verdict == Verdict::refused);
  const Answer listed = leader.order(ListStreams{});
  CHECK(listed.verdict == Verdict::refused);
  CHECK(listed.streams.empty());
  CHECK(leader.state.changes() == changes);
}
