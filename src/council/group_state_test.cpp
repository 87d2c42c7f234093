#include "council/group_state.h"

#include <doctest/doctest.h>

#include <deque>
#include <optional>
#include <random>
#include <vector>

#include "base/testing.h"
#include "council/testing.h"

using namespace piracema;
using namespace piracema::council;
using piracema::council::testing::job_of_two;

namespace {

std::vector<Member> three() {
  std::vector<Member> members;
  for (std::uint32_t id = 0; id < 3; ++id) members.push_back({id, "r", "d", "k"});
  return members;
}

Answer apply(GroupState& state, const Operation& operation) {
  const auto answer = decode_answer(state.apply(encode(operation), {}));
  REQUIRE(answer.ok());
  return *answer;
}

/// A coordinator that has claimed the job: it decides on what it knows, and has done what was
/// answered. What it has asked for may still be on the way when another one has claimed the job.
struct Leader {
  Lead lead;
  cluster::JobMetadata metadata;
  bool deposed = false;
};

}  // namespace

TEST_CASE("hosts that the job uses now are known by all, also by a replica that comes late") {
  GroupState state(three());
  const Lead lead{1, 1};
  apply(state, Claim{lead, 0, 1, 2});
  apply(state, Begin{lead, "key", 1'000, job_of_two().encode()});
  CHECK(state.standing().hosts.empty());
  const cluster::HostsOfJob now{{{"h1", "10.0.0.1"}, {"h2", "10.0.0.2", false}}, {0, 0}};
  apply(state, Append{lead, cluster::encode_decisions({cluster::HostsChanged{now}})});
  CHECK(state.standing().hosts == now.hosts);
  GroupState late(three());
  const Buffer image = smr::bytes_of(state.snapshot());
  REQUIRE(late.restore(image));
  CHECK(late.standing().hosts == now.hosts);
}

TEST_CASE("bytes that are no operation change nothing and are answered") {
  GroupState state(three());
  const Buffer none;
  CHECK(decode_answer(state.apply(none, {}))->verdict == Verdict::nonsense);
  std::mt19937_64 random(1);
  Buffer bytes = encode(Operation(Claim{{7, 1}, 1, 2, 3}));
  for (int i = 0; i < 2'000; ++i) {
    Buffer changed(bytes);
    changed.data()[random() % changed.size()] = static_cast<std::byte>(random());
    changed.resize(random() % (changed.size() + 1));
    CHECK(decode_answer(state.apply(changed, {})).ok());
  }
}

TEST_CASE("a decision that nobody could have taken is refused, and with it those beside it") {
  GroupState state(three());
  const Lead lead{1, 1};
  REQUIRE(apply(state, Claim{lead, 1, 2, 3}).verdict == Verdict::done);
  // There is no job yet.
  const auto decide = [&](const std::vector<cluster::Decision>& decisions) {
    return apply(state, Append{lead, cluster::encode_decisions(decisions)}).verdict;
  };
  CHECK(decide({cluster::TermRaised{1}}) == Verdict::nonsense);
  REQUIRE(apply(state, Begin{lead, "t", 5, job_of_two().encode()}).verdict == Verdict::done);
  CHECK(decide({cluster::TermRaised{1}, cluster::ProcessReplaced{9, 0, false}}) ==
        Verdict::nonsense);
  CHECK(decide({cluster::TermRaised{1}}) == Verdict::done);
}

TEST_CASE("whoever leads gives a seat to another one, and who had it is told so") {
  GroupState state(three());
  const Lead lead{1, 1};
  REQUIRE(apply(state, Claim{lead, 0, 2, 3}).verdict == Verdict::done);
  CHECK(apply(state, Ping{2}).verdict == Verdict::done);
  CHECK(state.standing().heard == std::vector<std::uint64_t>{0, 0, 1});
  const Member next{3, "r3", "d3", "k3"};
  CHECK(apply(state, Seated{{1, 0}, 2, next}).verdict == Verdict::deposed);
  CHECK(apply(state, Seated{lead, 3, next}).verdict == Verdict::nonsense);
  CHECK(apply(state, Seated{lead, 2, {2, "r", "d", "k"}}).verdict == Verdict::nonsense);
  CHECK(apply(state, Seated{lead, 2, {4, "r", "d", "k"}}).verdict == Verdict::nonsense);
  CHECK(apply(state, Seated{lead, 2, next}).verdict == Verdict::done);
  // It was asked for twice.
  CHECK(apply(state, Seated{lead, 2, next}).verdict == Verdict::nonsense);
  CHECK(apply(state, Ping{2}).verdict == Verdict::deposed);
  CHECK(apply(state, Ping{3}).verdict == Verdict::done);
  const Standing standing = state.standing();
  CHECK(standing.members[2].door == "d3");
  CHECK(standing.heard == std::vector<std::uint64_t>{0, 0, 1});
  CHECK(standing.has(3));
  CHECK_FALSE(standing.has(2));
  CHECK(standing.next_id == 4);
  // Who comes by an image knows it, too.
  GroupState late(three());
  const Buffer image = smr::bytes_of(state.snapshot());
  REQUIRE(late.restore(image));
  CHECK(late.standing().members[2].id == 3);
  CHECK(late.standing().next_id == 4);
}

TEST_CASE("a signal that several were told of is one signal") {
  GroupState state(three());
  for (const std::uint64_t id : {1u, 1u, 2u, 1u}) {
    CHECK(apply(state, Signalled{15, id}).verdict == Verdict::done);
  }
  const auto signals = state.standing().signals;
  REQUIRE(signals.size() == 2);
  CHECK(signals[0].id == 1);
  CHECK(signals[1].id == 2);
}

// Leaders come and go; each is stopped at any place of its work, and what it has asked for comes
// late, twice or not at all. Whatever was acted upon has to be in what the next one finds.
TEST_CASE("what was acted upon is never lost, and nothing is decided by one that was followed") {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    GroupState state(three()), late(three());
    std::vector<Leader> leaders;
    std::deque<std::pair<std::size_t, Buffer>> on_the_way;
    // By the decisions that were answered: what the world has seen.
    Buffer acted_upon;
    std::uint64_t term = 0;
    const auto ordered = [&](const Operation& operation) {
      static_cast<void>(late.apply(encode(operation), {}));
      return apply(state, operation);
    };
    const auto claim = [&] {
      Leader next{{++term, 1}, job_of_two(), false};
      const Answer answer = ordered(Claim{next.lead, 1, 2, 3});
      REQUIRE(answer.verdict == Verdict::done);
      REQUIRE(answer.left.has_value() == !acted_upon.empty());
      if (answer.left) {
        auto found = cluster::JobMetadata::decode(answer.left->metadata);
        REQUIRE(found.ok());
        // What came late was decided before this one has claimed the job, by the last leader alone.
        next.metadata = *std::move(found);
      }
      for (Leader& before : leaders) before.deposed = true;
      REQUIRE(ordered(Begin{next.lead, "t", 5, next.metadata.encode()}).verdict == Verdict::done);
      acted_upon = next.metadata.encode();
      leaders.push_back(std::move(next));
    };
    claim();
    for (int step = 0; step < 60; ++step) {
      const std::size_t who = random() % leaders.size();
      Leader& leader = leaders[who];
      switch (random() % 8) {
        case 0:
          claim();
          break;
        case 2: {
          // A seat is given away meanwhile; only who leads can do it.
          const std::uint32_t next = state.standing().next_id;
          const auto seat = static_cast<std::uint32_t>(random() % 3);
          const Verdict verdict = ordered(Seated{leader.lead, seat, {next, "r", "d", "k"}}).verdict;
          CHECK((verdict == Verdict::deposed) == leader.deposed);
          CHECK(state.standing().has(next) == !leader.deposed);
          ordered(Ping{static_cast<std::uint32_t>(random() % (next + 1))});
          break;
        }
        case 1:
          // It comes now, and its leader has been stopped meanwhile.
          if (!on_the_way.empty()) {
            const auto [from, decisions] = on_the_way.front();
            on_the_way.pop_front();
            const bool counts = !leaders[from].deposed;
            const Verdict verdict = ordered(Append{leaders[from].lead, decisions}).verdict;
            CHECK((verdict == Verdict::deposed) == !counts);
            // Whoever asked for it has not heard, and does nothing more.
            if (counts) leaders[from].deposed = false, claim();
          }
          break;
        default: {
          cluster::JobMetadata wanted = leader.metadata;
          const std::vector<cluster::Decision> decisions = {
              leader.metadata.term < leader.lead.term
                  ? cluster::Decision(cluster::TermRaised{leader.lead.term})
                  : cluster::Decision(
                        cluster::ProcessReplaced{0, leader.metadata.incarnations[0], false})};
          bool possible = true;
          for (const auto& decision : decisions) possible = possible && wanted.apply(decision).ok();
          if (!possible) break;
          if (random() % 6 == 0) {
            on_the_way.emplace_back(who, cluster::encode_decisions(decisions));
            break;
          }
          const Verdict verdict =
              ordered(Append{leader.lead, cluster::encode_decisions(decisions)}).verdict;
          CHECK((verdict == Verdict::deposed) == leader.deposed);
          if (verdict != Verdict::done) break;
          leader.metadata = std::move(wanted);
          acted_upon = leader.metadata.encode();
          const Answer seen = ordered(Claim{{++term, 1}, 1, 2, 3});
          REQUIRE(seen.left);
          CHECK(as_text(seen.left->metadata) == as_text(acted_upon));
          // The same one goes on, under the lead that has just been claimed.
          leader.lead = {term, 1};
          for (Leader& other : leaders) other.deposed = &other != &leader;
        }
      }
      // A replica that has come late, by an image, is the same.
      if (random() % 16 == 0) {
        const Buffer image = smr::bytes_of(state.snapshot());
        REQUIRE(late.restore(image));
      }
      CHECK(as_text(smr::bytes_of(late.snapshot())) == as_text(smr::bytes_of(state.snapshot())));
    }
  }
}
