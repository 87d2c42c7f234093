#include "sim/smr/plan.h"

namespace piracema::smr_sim {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

Time sometimes(Random& random, Time mean, double chance = 0.5) {
  return random.chance(chance) ? mean : Time{};
}

WireFaults bad_wires(Random& random) {
  WireFaults wires;
  wires.in_order = random.chance(0.3);
  wires.most_delay = random.chance(0.3) ? Time(milliseconds(20)) : Time(milliseconds(1));
  if (random.chance(0.7)) wires.loss = random.unit() * 0.3;
  if (random.chance(0.5)) wires.duplication = random.unit() * 0.5;
  if (random.chance(0.3)) wires.straggler = 0.02;
  return wires;
}

}  // namespace

Plan calm(std::uint64_t seed, smr::FaultModel model) {
  Random random(seed * 2 + (model == smr::FaultModel::byzantine ? 1 : 0));
  Plan plan;
  plan.seed = random.next();
  plan.model = model;
  const std::uint32_t least = model == smr::FaultModel::byzantine ? 4 : 3;
  plan.n = least + static_cast<std::uint32_t>(random.below(8 - least));
  plan.f = model == smr::FaultModel::byzantine ? (plan.n - 1) / 3 : (plan.n - 1) / 2;
  plan.settings.window = 1 + static_cast<std::uint32_t>(random.below(8));
  plan.settings.batch_requests = 1 + random.below(4);
  plan.settings.checkpoint_interval = smr::view_delay + random.below(32);
  plan.settings.backlog = 16 + random.below(64);
  plan.clients = 2 + static_cast<std::uint32_t>(random.below(4));
  plan.outstanding = random.chance(0.5) ? 1 : 1 + static_cast<std::uint32_t>(random.below(4));
  plan.operations = 40;
  plan.keys = 1 + static_cast<std::uint32_t>(random.below(4));
  plan.leases = random.chance(0.5) ? 0.3 : 0;
  if (random.chance(0.5)) plan.reads = 0.5;
  return plan;
}

Plan lossy(std::uint64_t seed, smr::FaultModel model) {
  Plan plan = calm(seed, model);
  Random random(plan.seed);
  plan.trouble_until = seconds(4);
  plan.wires = bad_wires(random);
  return plan;
}

Plan troubled(std::uint64_t seed, smr::FaultModel model) {
  Plan plan = lossy(seed, model);
  Random random(plan.seed + 1);
  plan.operations = 60;
  plan.think = milliseconds(random.below(60));
  plan.crash = sometimes(random, milliseconds(700));
  plan.partition = sometimes(random, milliseconds(900));
  plan.one_way = sometimes(random, milliseconds(900), 0.3);
  plan.slow = sometimes(random, milliseconds(1'500), 0.3);
  plan.freeze = sometimes(random, milliseconds(1'500), 0.3);
  plan.lose_disk = sometimes(random, milliseconds(2'000), 0.3);
  plan.clock_jump = sometimes(random, milliseconds(1'000), 0.3);
  if (random.chance(0.5)) plan.wires = WireFaults{};
  if (random.chance(0.2)) plan.sync_most = milliseconds(30);
  // Not with machines that are slow as well: one batch would take seconds.
  if (random.chance(0.2) && plan.slow == Time{}) plan.execution_most = milliseconds(20);
  if (random.chance(0.5)) plan.drift = 0.04;
  plan.cut_link = sometimes(random, milliseconds(200));
  if (random.chance(0.1)) {
    plan.patience = milliseconds(400);
    plan.leases = 0;  // One that was given back late may be a later one.
  }
  // Of some hundred bytes to some for which no log would be long enough.
  if (random.chance(0.4)) plan.state_bytes = std::uint64_t{1} << (8 + random.below(16));
  return plan;
}

Plan lying(std::uint64_t seed) {
  Plan plan = Random(seed).chance(0.5) ? lossy(seed, smr::FaultModel::byzantine)
                                       : calm(seed, smr::FaultModel::byzantine);
  Random random(plan.seed + 2);
  plan.trouble_until = seconds(4);
  plan.think = milliseconds(random.below(60));
  plan.liars = plan.f;
  // One kind of lie at a time shows what it does; all at once, what they do together.
  plan.lies = random.chance(0.3)
                  ? static_cast<std::uint32_t>(all_lies)
                  : 1u << random.below(kinds_of_lies) | 1u << random.below(kinds_of_lies);
  // Each batch may take nearly as long as others have patience: it is bounded by that, not by us.
  if ((plan.lies & slow_leader) != 0) plan.operations = 15;
  if (random.chance(0.5)) plan.bad_proofs = 0.2;
  return plan;
}

Plan rotten(std::uint64_t seed, smr::FaultModel model) {
  Plan plan = troubled(seed, model);
  Random random(plan.seed + 3);
  plan.bad_disk = milliseconds(100 + random.below(500));
  plan.crash = milliseconds(500);
  plan.power = sometimes(random, milliseconds(1'500));
  return plan;
}

Plan moving(std::uint64_t seed, smr::FaultModel model) {
  Plan plan = troubled(seed, model);
  Random random(plan.seed + 4);
  plan.trouble_until = seconds(6);
  plan.think = milliseconds(20 + random.below(60));
  plan.spares = 1 + static_cast<std::uint32_t>(random.below(3));
  plan.reconfigure = milliseconds(200 + random.below(800));
  // A third of them with nothing else going wrong, so that many changes come to pass.
  if (random.chance(0.3)) {
    plan.crash = plan.partition = plan.one_way = plan.slow = plan.freeze = plan.lose_disk = Time{};
  }
  return plan;
}

Plan crowded(std::uint64_t seed, smr::FaultModel model) {
  Plan plan = Random(seed).chance(0.5) ? lossy(seed, model) : troubled(seed, model);
  plan.clients = 4 + static_cast<std::uint32_t>(seed % 3);
  plan.sessions = 2 + static_cast<std::uint32_t>(seed % 2);
  plan.think = milliseconds(60);
  return plan;
}

Plan locking(std::uint64_t seed, smr::FaultModel model) {
  Plan plan = Random(seed).chance(0.3) ? lossy(seed, model) : troubled(seed, model);
  Random random(plan.seed + 5);
  plan.locks = true;
  plan.patience = Time{};
  plan.outstanding = 1;
  plan.operations = 80;
  plan.think = milliseconds(random.below(20));
  plan.relapse = 0.5;
  if (random.chance(0.2)) plan.sessions = 2;
  // Leases end early where clocks jump, and then only tokens are left to look at.
  if (random.chance(0.7)) plan.clock_jump = Time{};
  if (model == smr::FaultModel::byzantine && plan.lose_disk == Time{} && random.chance(0.3)) {
    plan.liars = plan.f;
    plan.lies = equivocate | withhold | false_chunk;
    plan.crash = plan.partition = plan.one_way = plan.slow = plan.freeze = Time{};
  }
  return plan;
}

Plan hoarding(std::uint64_t seed, smr::FaultModel model) {
  Plan plan = Random(seed).chance(0.5) ? calm(seed, model) : troubled(seed, model);
  Random random(plan.seed + 6);
  plan.trouble_until = seconds(4);
  plan.checkpoint_most = milliseconds(300 + random.below(1'700));
  plan.slow = Time{};  // A hundred times that is no checkpoint at all.
  plan.settings.checkpoint_interval = smr::view_delay;
  plan.settings.batch_requests = 1;
  plan.settings.window = 8;
  plan.clients = 4;
  plan.outstanding = 4;
  plan.operations = 150;
  plan.think = Time{};
  plan.reads = plan.leases = 0;
  return plan;
}

namespace {

using Make = Plan (*)(std::uint64_t, smr::FaultModel);
template <Make make>
Plan crash(std::uint64_t seed) {
  return make(seed, smr::FaultModel::crash);
}
template <Make make>
Plan byzantine(std::uint64_t seed) {
  return make(seed, smr::FaultModel::byzantine);
}

const NamedPlan plans[] = {
    {"calm-crash", crash<calm>},
    {"calm-byzantine", byzantine<calm>},
    {"lossy-crash", crash<lossy>},
    {"lossy-byzantine", byzantine<lossy>},
    {"troubled-crash", crash<troubled>},
    {"troubled-byzantine", byzantine<troubled>},
    {"rotten-crash", crash<rotten>},
    {"rotten-byzantine", byzantine<rotten>},
    {"moving-crash", crash<moving>},
    {"moving-byzantine", byzantine<moving>},
    {"crowded-crash", crash<crowded>},
    {"crowded-byzantine", byzantine<crowded>},
    {"locking-crash", crash<locking>},
    {"locking-byzantine", byzantine<locking>},
    {"hoarding-crash", crash<hoarding>},
    {"hoarding-byzantine", byzantine<hoarding>},
    {"lying", lying},
};

}  // namespace

std::span<const NamedPlan> all_plans() { return plans; }

}  // namespace piracema::smr_sim
