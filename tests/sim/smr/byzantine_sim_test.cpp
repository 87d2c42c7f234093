#include <doctest/doctest.h>

#include "sim/seeds.h"
#include "sim/smr/world.h"

namespace piracema::smr_sim {

using smr::FaultModel;

namespace {

void check(const Plan& plan) {
  World world(plan);
  const bool fine = world.run();
  INFO(world.complaints());
  CHECK(fine);
}

/// Calm but for f liars of one kind.
Plan only(std::uint64_t seed, std::uint32_t lies) {
  Plan plan = calm(seed, FaultModel::byzantine);
  plan.liars = plan.f;
  plan.lies = lies;
  return plan;
}

}  // namespace

TEST_CASE("a leader that proposes different batches to different replicas splits nobody") {
  for (const auto seed : runs(60)) check(only(seed, equivocate | double_vote));
}

TEST_CASE("a leader that proposes one batch after another for the same place splits nobody") {
  for (const auto seed : runs(60)) check(only(seed, two_proposals | double_vote));
}

TEST_CASE("a leader that does not propose what is bound is not followed") {
  for (const auto seed : runs(60)) {
    Plan plan = troubled(seed, FaultModel::byzantine);
    plan.lose_disk = {};
    plan.crash = plan.partition = std::chrono::milliseconds(300);
    plan.liars = plan.f;
    plan.lies = overrule | false_stop;
    check(plan);
  }
}

TEST_CASE("what a liar says is decided is not, however often it says so") {
  for (const auto seed : runs(60)) {
    Plan plan = lossy(seed, FaultModel::byzantine);
    plan.liars = plan.f;
    plan.lies = false_decided;
    check(plan);
  }
}

TEST_CASE("a leader whose clock is wrong is a little ahead of time, and not more") {
  for (const auto seed : runs(60)) check(only(seed, fast_clock));
}

TEST_CASE("a checkpoint that liars swear to is nobody's state") {
  for (const auto seed : runs(60)) {
    Plan plan = troubled(seed, FaultModel::byzantine);
    plan.lose_disk = {};
    plan.crash = plan.partition = std::chrono::milliseconds(300);
    plan.liars = plan.f;
    plan.lies = false_state;
    check(plan);
  }
}

TEST_CASE("a replica that lies about what it has written binds nobody to it") {
  for (const auto seed : runs(60)) check(only(seed, stuff_write_set | false_stop));
}

TEST_CASE("what is withheld from some, or said again, holds nobody up") {
  for (const auto seed : runs(60)) check(only(seed, withhold | replay));
}

TEST_CASE("false pieces of checkpoints and of the log are found out") {
  for (const auto seed : runs(60)) check(only(seed, false_chunk));
}

TEST_CASE("a leader that is slow on purpose is slow, and no more") {
  for (const auto seed : runs(50)) {
    Plan plan = only(seed, slow_leader);
    plan.operations = 15;  // Each may take nearly as long as others have patience.
    check(plan);
  }
}

TEST_CASE("a leader that drops three in ten of its proposals is found out, and not for ever slow") {
  // Those in which the liar leads first; and the same without it.
  int led = 0;
  for (const auto seed : runs(40)) {
    Plan plan = only(seed, drop_some);
    plan.n = 4;
    plan.f = plan.liars = 1;
    plan.clients = 4;
    plan.outstanding = 4;
    plan.operations = 600;
    plan.think = Time{};
    plan.leases = plan.reads = 0;
    plan.settings.request_timeout = std::chrono::milliseconds(200);
    const auto run = [](const Plan& what, bool& first) {
      World world(what);
      first = !world.replica(0).is_correct();
      const bool fine = world.run();
      INFO(world.complaints());
      CHECK(fine);
      return world.now();
    };
    bool liar_leads = false, nobody = false;
    const Time took = run(plan, liar_leads);
    if (!liar_leads) continue;
    led += 1;
    plan.liars = plan.lies = 0;
    const Time honest = run(plan, nobody);
    INFO("seed ", seed);
    // Four periods at most until it is judged, and one change of the leader.
    CHECK(took < 2 * honest + 10 * Time(plan.settings.request_timeout));
  }
  CHECK((led > 0 || sim::tracing()));
}

TEST_CASE("a view that one replica alone swears to is no client's") {
  for (const auto seed : runs(60)) check(only(seed, false_view));
}

TEST_CASE("a client that the leader starves is served by the next one") {
  for (const auto seed : runs(60)) check(only(seed, starve));
}

TEST_CASE("nobody is believed who asks in the name of a client") {
  for (const auto seed : runs(60)) check(only(seed, forge));
}

TEST_CASE("a client whose proof convinces only some replicas stops nobody, and gets its answers") {
  for (const auto seed : runs(60)) {
    Plan plan = calm(seed, FaultModel::byzantine);
    plan.bad_proofs = 0.2;
    check(plan);
  }
}

TEST_CASE("f liars that do everything at once, on bad wires, change nothing for others") {
  for (const auto seed : runs(60)) check(lying(seed));
}

TEST_CASE("with one liar more than f the oracles do see that replicas differ") {
  // Otherwise they would see nothing in all the tests above either.
  int seen = 0, tried = 0;
  for (const auto seed : runs(50)) {
    tried += 1;
    Plan plan = only(seed, equivocate | double_vote);
    // With more than that, two quorums may have more than f + 1 in common.
    plan.n = 3 * plan.f + 1;
    plan.liars = plan.f + 1;
    World world(plan);
    world.run();
    if (world.complaints().find("agreement: ") != std::string::npos) seen += 1;
  }
  CHECK((5 * seen >= tried || sim::tracing()));
}

}  // namespace piracema::smr_sim
