#include "base/text.h"
#include "smr/order/core/parts.h"

/// Byzantine: proofs of what is decided, for leader changes and for replicas that are behind.
namespace piracema::smr {

void Core::Parts::pass_milestone() {
  if (at_boundary()) proofs.expect(progress.decided());
  if (auto complete = proofs.sign()) use_proof(std::move(*complete));
  if (progress.decided() == proofs.proven() && proofs.contradicts(proofs.best())) {
    step.halt(concat("the others decided something else up to ", progress.decided()));
  }
}

void Core::Parts::handle(Sender from, const Milestone& m) {
  if (!members.byzantine() || from.id == members.me()) return;
  peers.told(from.index, m.instance);
  if (auto complete = proofs.on_word(from, m)) use_proof(std::move(*complete));
}

// The proof is good.
void Core::Parts::use_proof(DecisionProof better) {
  if (better.instance <= proofs.proven()) return;
  if (proofs.contradicts(better)) {
    return step.halt(concat("the others decided something else up to ", better.instance));
  }
  proofs.keep(std::move(better));
  if (proofs.proven() > progress.decided()) {
    timers.see_others_ahead();
    // It may be the proof that this replica needs to leave its view: the others may never show it
    // an older one, and in the old view it takes no batch of the next.
    if (!SMR_MUTANT("wait_for_own_proof")) pass_view();
    return check_far_behind();
  }
  pass_view();
  if (progress.decided() > kept_decided) {
    instances.drop_until(std::min(proofs.proven(), progress.decided() - kept_decided));
  }
  // Some waited because they were too far above the old one.
  for (Instance i = progress.decided() + 1; i < instances.end() && !step.halted(); ++i) {
    consider(i, *instances.find(i));
  }
}

}  // namespace piracema::smr
