#include <set>

#include "base/text.h"
#include "smr/order/core/parts.h"

/// SYNC: into the new regency. Everybody computes from the same collects what is bound; the leader
/// then proposes that again, like anything else, and nobody votes for anything else there.
namespace piracema::smr {

void Core::Parts::handle(Sender from, const Sync& m) {
  if (m.view != members.view().id || from.id != members.view().leader(m.regency) ||
      !leadership.votes())
    return;
  if (m.regency < leadership.regency() ||
      (m.regency == leadership.regency() && leadership.synced()))
    return;
  if (m.regency > leadership.regency()) {
    // It shows that a quorum has entered that regency: who missed the STOPs follows.
    auto binding = check(m);
    if (!binding) return;
    enter(m.regency);
    return begin_regency(std::move(*binding));
  }
  if (from.id == members.me()) leadership.entry_is_durable();
  if (auto binding = check(m)) begin_regency(std::move(*binding));
}

std::optional<Binding> Core::Parts::check(const Sync& m) const {
  std::set<ReplicaId> from;
  for (const Collect& collect : m.collects) {
    if (!acceptable(collect, m.regency)) return std::nullopt;
    if (!from.insert(collect.from).second) return std::nullopt;
  }
  return bind(members.view(), m.collects);
}

void Core::Parts::begin_regency(Binding binding) {
  leadership.begin();
  patience.begin(step.now());
  say_again_at = step.now() + say_again_every;
  leader_rate.begin(step.now(), leadership.leader());
  for (const auto& [instance, digest] : binding.values) {
    const Consensus* one = instances.find(instance);
    if (one && one->decided && *one->decided != digest) {
      return step.halt(concat("regency ", leadership.regency(),
                              " binds another value than was decided at ", instance));
    }
  }
  bound = std::move(binding.values);
  base = binding.base.instance;
  if (members.byzantine()) use_proof(std::move(binding.base));
  others_ahead |= base > progress.decided();
  suspect_clients();
  pool.start_again(step.now());
  for (const auto& [instance, digest] : bound) {
    const Consensus* one = instances.find(instance);
    if (BatchPtr batch = one ? one->find(digest) : nullptr) reserve(batch);
  }
  fill_until = binding.top;
  ticked_at = 0;
  patience.begin_work(step.now());
  // What is below is in a stable checkpoint: too few are left to vote on it, and they fetch it.
  next_instance = std::max(base + 1, instances.first());
  if (leadership.is_leader()) return;
  for (Instance i = instances.first(); i < instances.end() && !step.halted(); ++i) {
    consider(i, *instances.find(i));
  }
}

// Perhaps a proposal was dropped because too few could verify its requests, and perhaps only
// because its leader failed. The pool tells by how often that happens to a client.
void Core::Parts::suspect_clients() {
  if (!members.byzantine()) return;
  for (Instance i = std::max(instances.first(), progress.decided() + 1); i < instances.end(); ++i) {
    Consensus& one = *instances.find(i);
    if (one.decided || bound.contains(i) || i <= base) continue;
    BatchPtr batch = one.held_in < leadership.regency() ? one.held : nullptr;
    if (!batch && one.taken) batch = one.find(one.taken->digest);
    if (!batch) continue;
    for (const Request& request : batch->requests) {
      pool.suspect(request.client, members.view().one_correct());
    }
  }
}

}  // namespace piracema::smr
