#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "jobs/protocol/testing.h"
#include "jobs/state/cluster_state.h"

/// What the tests of a cluster's state share.
namespace piracema::jobs::testing {

/// A cluster as one replica of its group has it, and the group's clock in milliseconds.
struct Cluster {
  ClusterState state;
  std::uint64_t clock = 1'000'000;

  Answer operator()(const Operation& operation) { return ask(honest_client(operation), operation); }
  /// A report without a number is the node's next one.
  Answer ask(std::uint64_t client, Operation operation) {
    if (auto* const report = std::get_if<Report>(&operation); report && report->number == 0) {
      const auto node = state.nodes().find(report->node);
      report->number = node == state.nodes().end() ? 1 : node->second.last_report + 1;
    }
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
    REQUIRE(answer.verdict == Answer::Verdict::done);
    return answer.job;
  }
  const Job& job(JobId id) const { return state.jobs().at(id); }
};

inline Ended exited(JobId job, std::uint32_t attempt, std::uint32_t code) {
  return {{job, attempt}, End::exited, code, "ended with status " + std::to_string(code)};
}

constexpr std::uint64_t alice = 11, bob = 12, carol = 13;

/// One node, and a user of each role.
struct SharedCluster : Cluster {
  SharedCluster() {
    CHECK(says(first_client, PutUser{{"alice", alice, Role::submit, "al"}}).empty());
    CHECK(says(first_client, PutUser{{"bob", bob, Role::look, ""}}).empty());
    CHECK(says(first_client, PutUser{{"carol", carol, Role::administer, ""}}).empty());
    CHECK(says(client_of("a"), Join{"a", 1, 4, "/d", ""}).empty());
  }
  /// Why not; empty: it was done.
  std::string says(std::uint64_t client, const Operation& operation) {
    const Answer answer = ask(client, operation);
    return answer.verdict == Answer::Verdict::done ? "" : answer.why;
  }
  JobId submit(std::uint64_t client) {
    return ask(client, Submit{{.name = "j", .command = {"true"}}}).job;
  }
};

}  // namespace piracema::jobs::testing
