// What went wrong in other people's systems, acted out here.
#include <doctest/doctest.h>

#include "sim/seeds.h"
#include "sim/smr/liar.h"
#include "sim/smr/mutants.h"
#include "sim/smr/world.h"

namespace piracema::smr_sim {

using namespace smr;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

Plan plan_of(std::uint64_t seed, FaultModel model, std::uint32_t n, std::uint32_t f) {
  Plan plan = calm(seed, model);
  plan.n = n;
  plan.f = f;
  plan.think = milliseconds(20);
  plan.operations = 100;
  plan.trouble_until = seconds(4);
  return plan;
}

/// Neither of the two hears the other.
void cut(World& world, ReplicaId a, ReplicaId b) {
  world.wires().block(a, b);
  world.wires().block(b, a);
}

void check(World& world) {
  const bool fine = world.run();
  INFO(world.complaints());
  CHECK(fine);
}

}  // namespace

// BFT-SMaRt orders "nothing written" beside regency 0, so that a value that was decided there does
// not bind the next leader if it hears of it and of somebody who wrote nothing.
TEST_CASE("what the first leader decided with one other is still there when it is gone") {
  for (const auto seed : runs(50)) {
    World world(plan_of(seed, FaultModel::crash, 3, 1));
    // 2 hears of nothing; then 0 is gone, and 1 and 2 have to find out.
    const Time gone = milliseconds(100) + Time(milliseconds(Random(seed).below(200)));
    world.at(milliseconds(100), [&] {
      cut(world, 0, 2);
      cut(world, 1, 2);
    });
    world.at(gone, [&] {
      world.wires().heal();
      world.crash(0, seconds(5));
    });
    check(world);
  }
}

TEST_CASE("what the first leader decided with two of three others is still there when it is gone") {
  for (const auto seed : runs(50)) {
    World world(plan_of(seed, FaultModel::byzantine, 4, 1));
    const Time gone = milliseconds(100) + Time(milliseconds(Random(seed).below(200)));
    world.at(milliseconds(100), [&] {
      for (ReplicaId other = 0; other < 3; ++other) cut(world, other, 3);
    });
    world.at(gone, [&] {
      world.wires().heal();
      world.crash(0, seconds(5));
    });
    check(world);
  }
}

// NuRaft #185: a leader that comes back rolled entries back that had been committed and answered.
TEST_CASE("what was answered survives that all replicas lose power at once, again and again") {
  for (const auto seed : runs(50)) {
    World world(plan_of(seed, seed % 2 == 0 ? FaultModel::crash : FaultModel::byzantine, 4, 1));
    Random random(seed);
    for (int i = 1; i < 10; ++i) {
      world.at(i * milliseconds(350), [&world, &random] {
        for (ReplicaId id = 0; id < 4; ++id) world.crash(id, milliseconds(random.below(100)));
      });
    }
    check(world);
  }
}

// LogCabin #44: an entry of an older term was counted as committed because a majority had it, and
// replaced by one of a term between.
TEST_CASE("leaders that come and go before their votes are counted take turns without harm") {
  for (const auto seed : runs(50)) {
    World world(plan_of(seed, FaultModel::crash, 5, 2));
    Random random(seed);
    for (int i = 2; i < 30; ++i) {
      world.at(i * milliseconds(120), [&world, &random, i] {
        const auto leads = static_cast<ReplicaId>(i % 5);
        // It still reaches one other, then nobody.
        for (ReplicaId other = 0; other < 5; ++other) {
          if (other != (leads + 1 + random.below(4)) % 5) world.wires().block(leads, other);
        }
        world.after(milliseconds(40), [&world, leads] { world.crash(leads, milliseconds(60)); });
        world.after(milliseconds(80), [&world] { world.wires().heal(); });
      });
    }
    check(world);
  }
}

// BFT-SMaRt #19: one replica that was cut off kept all others from going on.
TEST_CASE("one replica that is cut off stops nobody, neither then nor when it is back") {
  for (const auto seed : runs(20)) {
    const bool liars = seed % 2 == 0;
    Plan plan = plan_of(seed, liars ? FaultModel::byzantine : FaultModel::crash, 4, 1);
    plan.operations = 500;
    // Long enough for a new leader, if it was the old one.
    const Time settled = 3 * Time(plan.settings.request_timeout) + seconds(1);
    plan.trouble_until = settled + seconds(3);
    World world(plan);
    const auto alone = static_cast<ReplicaId>(Random(seed).below(4));
    const bool only_deaf = seed % 3 == 0;
    world.at(milliseconds(200), [&] {
      for (ReplicaId other = 0; other < 4; ++other) {
        if (other == alone) continue;
        world.wires().block(other, alone);
        if (!only_deaf) world.wires().block(alone, other);
      }
    });
    Instance before = 0;
    world.at(settled, [&] { before = world.oracle().newest(); });
    world.at(settled + seconds(3) - milliseconds(1), [&] {
      const bool all_done = world.oracle().unanswered() == 0;
      if (world.oracle().newest() == before && !all_done)
        world.oracle().complain("all stand still");
    });
    check(world);
  }
}

// Found by real processes: one replica was out of disk, the other of the two that were left had
// just been cut off. It led, and voted for nothing that it proposed.
namespace {

bool goes_on_with_one_that_was_cut_off(std::uint64_t seed) {
  const bool liars = seed % 2 == 0;
  Plan plan = plan_of(seed, liars ? FaultModel::byzantine : FaultModel::crash, liars ? 4 : 3, 1);
  plan.settings.window = 8;
  plan.operations = 2'000;
  plan.think = milliseconds(25);
  plan.reads = plan.leases = 0;
  plan.trouble_until = seconds(14);
  World world(plan);
  const ReplicaId alone = Random(seed).chance(0.5) ? 1 : 2;
  world.at(milliseconds(200), [&world, &plan, alone] {
    for (ReplicaId other = 0; other < plan.n; ++other) {
      if (other != alone) cut(world, other, alone);
    }
  });
  Instance before = 0;
  world.at(seconds(10), [&world, &before] {
    world.wires().heal();
    world.crash(0, seconds(10));
    before = world.oracle().newest();
  });
  world.at(seconds(13), [&world, &before] {
    if (world.oracle().newest() < before + 20) world.oracle().complain("all stand still");
  });
  world.at(seconds(14) - milliseconds(1), [&world] { world.give_up_asking(); });
  return world.run();
}

}  // namespace

TEST_CASE("two of three go on, although one of them was cut off until the third one fell") {
  for (const auto seed : runs(6)) CHECK(goes_on_with_one_that_was_cut_off(seed));
}

TEST_CASE("they would not if it led from behind") {
  const Mutant on("leads_from_behind");
  bool found = false;
  for (std::uint64_t seed = 1; seed <= 60 && !found; ++seed) {
    found = !goes_on_with_one_that_was_cut_off(seed);
  }
  CHECK(found);
}

// Found by real processes: the queue of a link was full for batches and had room for votes, so one
// of three knew what was decided, and not what it was. When it was to be one of the two that were
// left, it fetched the same batches for ever, and the two led in turns.
namespace {

bool carries_batches(const Message& m) {
  return std::holds_alternative<Propose>(m) || std::holds_alternative<FetchedBatch>(m) ||
         std::holds_alternative<LogSuffix>(m);
}

bool goes_on_with_one_without_batches(std::uint64_t seed) {
  const bool liars = seed % 2 == 0;
  Plan plan = plan_of(seed, liars ? FaultModel::byzantine : FaultModel::crash, liars ? 4 : 3, 1);
  plan.settings.window = 8;
  plan.settings.checkpoint_interval = 4'096;  // Else a checkpoint mends it.
  plan.operations = 2'000;
  plan.think = milliseconds(5);
  plan.reads = plan.leases = 0;
  plan.trouble_until = seconds(12);
  World world(plan);
  world.at(milliseconds(200), [&world] {
    world.lose(
        [](ReplicaId, ReplicaId to, const Message& m) { return to == 1 && carries_batches(m); });
  });
  Instance before = 0;
  world.at(seconds(3), [&world, &before] {
    world.lose(nullptr);
    world.crash(2, seconds(9));
    before = world.oracle().newest();
  });
  world.at(seconds(10), [&world, &before] {
    if (world.oracle().newest() < before + 20) world.oracle().complain("all stand still");
  });
  world.at(seconds(12) - milliseconds(1), [&world] { world.give_up_asking(); });
  return world.run();
}

}  // namespace

TEST_CASE(
    "a replica that knows what was decided, and lacks the batches, fetches them and goes on") {
  for (const auto seed : runs(10)) CHECK(goes_on_with_one_without_batches(seed));
}

// Atlasdb #1686: where 0 and 2 do not hear each other, but 1 hears both, leaders took turns.
TEST_CASE("two of three replicas that do not hear each other do not take the lead in turns") {
  for (const auto seed : runs(50)) {
    Plan plan = plan_of(seed, FaultModel::crash, 3, 1);
    plan.trouble_until = seconds(20);
    World world(plan);
    world.at(milliseconds(200), [&] { cut(world, 0, 2); });
    world.at(seconds(19), [&] {
      if (world.oracle().unanswered() > 0) world.oracle().complain("no answers over a bridge");
    });
    check(world);
  }
}

// BFT-SMaRt's pull request #121: a leader could show signed words of an earlier change of the
// leader, and bind the others to what was true then.
TEST_CASE("what was signed for an earlier change of the leader is of no use in a later one") {
  for (const auto seed : runs(100)) {
    Plan plan = plan_of(seed, FaultModel::byzantine, 4, 1);
    plan.liars = 1;
    plan.lies = old_collects | false_stop;
    plan.trouble_until = seconds(6);
    World world(plan);
    // Many changes of the leader, with something decided between.
    for (int i = 1; i < 12; ++i) {
      world.at(i * milliseconds(450),
               [&world, i] { world.crash(static_cast<ReplicaId>(i % 4), milliseconds(50)); });
    }
    check(world);
  }
}

}  // namespace piracema::smr_sim
