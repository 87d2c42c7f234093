// What goes wrong, drawn from the seed.
#include <algorithm>

#include "sim/smr/liar.h"
#include "sim/smr/world.h"

namespace piracema::smr_sim {

using namespace smr;
using std::chrono::milliseconds;
using std::chrono::seconds;

void World::repeat(Time mean, std::function<void()> fault) {
  if (mean == Time{}) return;
  after(wires_.between(Time{}, 2 * mean), [this, mean, fault = std::move(fault)] {
    if (now_ >= plan_.trouble_until) return;
    fault();
    repeat(mean, fault);
  });
}

void World::plan_faults() {
  const auto to_any = [this](auto what) {
    return [this, what] {
      if (Replica* replica = any_up()) what(*replica);
    };
  };
  repeat(plan_.crash, to_any([this](Replica& replica) {
           if (random_.chance(plan_.crash_at_persist)) {
             replica.crash_at_persist();
           } else {
             crash(replica.id());
           }
         }));
  repeat(plan_.partition, [this] { partition(); });
  repeat(plan_.one_way, [this] {
    const auto from = random_.below(replicas_.size()), to = random_.below(replicas_.size());
    if (from != to) wires_.block(from, to);
    after(wires_.between(milliseconds(50), milliseconds(2'000)), [this] { wires_.heal(); });
  });
  repeat(plan_.slow, to_any([this](Replica& replica) {
           const ReplicaId id = replica.id();
           trace("replica ", id, " is slow");
           wires_.set_slowness(id, 100);
           after(wires_.between(milliseconds(50), milliseconds(2'000)),
                 [this, id] { wires_.set_slowness(id, 1); });
         }));
  repeat(plan_.freeze, to_any([this](Replica& replica) {
           trace("replica ", replica.id(), " stands still");
           replica.freeze_until(now_ + wires_.between(milliseconds(10), milliseconds(2'000)));
         }));
  repeat(plan_.clock_jump, to_any([this](Replica& replica) {
           replica.jump_clock(wires_.between(Time{}, seconds(3)));
         }));
  repeat(plan_.reconfigure, [this] { reconfigure(); });
  repeat(plan_.power, [this] {
    trace("all lose power");
    for (ReplicaId id = 0; id < replicas_.size(); ++id) {
      crash(id, wires_.between(milliseconds(5), milliseconds(200)));
    }
  });
  repeat(plan_.cut_leader, [this] { cut_leader(); });
  repeat(plan_.cut_link, [this] { cut_link(); });
  repeat(plan_.bad_disk, to_any([this](Replica& replica) {
           if (replica.has_bad_disk()) spoil_disk(replica);
         }));
  repeat(plan_.lose_disk, to_any([this](Replica& replica) { lose_disk(replica.id()); }));
}

// They do not stop when all else does.
void World::let_liars_act() {
  after(wires_.between(milliseconds(1), milliseconds(100)), [this] {
    for (const auto& replica : replicas_) {
      if (replica->lies() && replica->up()) replica->liar().act();
    }
    if (plan_.liars > 0) let_liars_act();
  });
}

Replica* World::any_up() {
  std::vector<Replica*> up;
  for (const auto& replica : replicas_) {
    if (replica->up()) up.push_back(replica.get());
  }
  return up.empty() ? nullptr : up[random_.below(up.size())];
}

void World::crash(ReplicaId id, std::optional<Time> down) {
  replicas_[id]->crash();
  is_gone(id, down.value_or(wires_.between(milliseconds(5), milliseconds(1'000))));
}

void World::end(ReplicaId id) {
  replicas_[id]->end();
  is_gone(id, wires_.between(milliseconds(5), milliseconds(1'000)));
}

void World::is_gone(ReplicaId id, Time down) {
  for (const auto& other : replicas_) {
    if (!other->up() || random_.chance(0.3)) continue;
    happens(other->id(), other->life(), LinkLost{id},
            now_ + wires_.between(Time{}, milliseconds(3)));
  }
  after(down, [this, id] {
    replicas_[id]->start();
    if (plan_.relapse > 0 && now_ < plan_.trouble_until && random_.chance(plan_.relapse))
      relapse(id);
  });
}

// While it reads its log, asks for the state, fetches or becomes a checkpoint; or soon after.
void World::relapse(ReplicaId id) {
  if (!replicas_[id]->up()) return;
  if (random_.chance(0.5)) return replicas_[id]->crash_at_persist();
  after(wires_.between(Time{}, milliseconds(20)), [this, id, life = replicas_[id]->life()] {
    if (replicas_[id]->up() && replicas_[id]->life() == life) crash(id);
  });
}

// Whoever has lost its disk is as good as gone until it has its memory back; of those there are
// never more than f.
void World::lose_disk(ReplicaId id) {
  if (plan_.bad_disk != Time{} && !replicas_[id]->has_bad_disk()) return;
  std::size_t lost = 1;
  for (const auto& replica : replicas_) lost += replica->amnesia() ? 1 : 0;
  const std::uint32_t f = plan_.reconfigure == Time{} ? plan_.f : 1;
  if (lost > f - std::min(f, plan_.liars) || replicas_[id]->amnesia()) return;
  crash(id);
  replicas_[id]->lose_disk();
}

// Some of all nodes, clients among them, do not hear the others; perhaps in one direction only.
void World::partition() {
  const std::size_t nodes = replicas_.size() + plan_.clients;
  std::vector<bool> side(nodes);
  if (random_.chance(0.4)) {
    side[random_.below(replicas_.size())] = true;  // One replica alone.
  } else {
    for (std::size_t node = 0; node < nodes; ++node) side[node] = random_.chance(0.5);
  }
  const bool both = random_.chance(0.7);
  for (std::size_t from = 0; from < nodes; ++from) {
    for (std::size_t to = 0; to < nodes; ++to) {
      if (side[from] && !side[to]) wires_.block(from, to);
      if (both && !side[from] && side[to]) wires_.block(from, to);
    }
  }
  trace("a partition");
  after(wires_.between(milliseconds(50), milliseconds(3'000)), [this] { wires_.heal(); });
}

// Of the replicas alone: clients still reach it.
void World::cut_leader() {
  const Replica* replica = any_up();
  if (!replica) return;
  const ReplicaId leader = replica->core().leader();
  trace("replica ", leader, " is cut off");
  wires_.heal();
  for (ReplicaId other = 0; other < replicas_.size(); ++other) {
    if (other == leader) continue;
    wires_.block(leader, other);
    wires_.block(other, leader);
  }
}

// Of a client, for a moment: it calls again.
void World::cut_link() {
  const auto client = static_cast<std::uint32_t>(random_.below(clients_.size()));
  const auto replica = static_cast<ReplicaId>(random_.below(replicas_.size()));
  trace("client ", client, " loses its connection to replica ", replica);
  clients_[client]->cut(replica);
}

void World::spoil_disk(Replica& replica) {
  Disk& disk = replica.disk();
  const auto what = random_.below(4);
  trace("the disk of replica ", replica.id(), " fails: ", what);
  switch (what) {
    case 0:
      disk.rot();
      return random_.chance(0.5) ? end(replica.id()) : crash(replica.id());
    case 1:
      return disk.misdirect();
    case 2:
      return disk.fail_next_sync();
    default:
      disk.fill(random_.below(20'000));
      after(wires_.between(milliseconds(50), milliseconds(2'000)), [&disk] { disk.make_room(); });
  }
}

void World::heal() {
  trace("nothing goes wrong any more");
  wires_.set_faults({});
  wires_.heal();
  for (const auto& replica : replicas_) {
    wires_.set_slowness(replica->id(), 1);
    replica->freeze_until(now_);
    replica->never_mind();
  }
}

}  // namespace piracema::smr_sim
