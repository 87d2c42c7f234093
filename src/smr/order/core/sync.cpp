#include "base/text.h"
#include "smr/order/core/parts.h"

/// SYNC: into the new regency. Everybody computes from the same collects what is bound; the leader
/// then proposes that again, like anything else, and nobody votes for anything else there.
namespace piracema::smr {

void Core::Parts::handle(Sender from, const Sync& m) {
  if (auto binding = leader_change.on_sync(from, m)) begin_regency(std::move(*binding));
}

void Core::Parts::begin_regency(Binding binding) {
  leadership.begin();
  patience.begin(step.now());
  timers.postpone(step.now());
  leader_watch.begin(step.now());
  for (const auto& [instance, digest] : binding.values) {
    const Consensus* one = instances.find(instance);
    if (one && one->decided && *one->decided != digest) {
      return step.halt(concat("regency ", leadership.regency(),
                              " binds another value than was decided at ", instance));
    }
  }
  proposer.bind(std::move(binding.values), binding.base.instance);
  if (members.byzantine()) use_proof(std::move(binding.base));
  if (proposer.base() > progress.decided()) timers.see_others_ahead();
  proposer.begin(binding.top);
  patience.begin_work(step.now());
  if (leadership.is_leader()) return;
  for (Instance i = instances.first(); i < instances.end() && !step.halted(); ++i) {
    consider(i, *instances.find(i));
  }
}

}  // namespace piracema::smr
