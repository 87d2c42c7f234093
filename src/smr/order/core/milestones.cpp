#include "base/text.h"
#include "smr/order/core/parts.h"

/// Byzantine: proofs of what is decided, for leader changes and for replicas that are behind.
namespace piracema::smr {

void Core::Parts::pass_milestone() {
  if (at_boundary()) milestones.expect(progress.decided());
  if (members.own() && milestones.wants(progress.decided())) {
    Milestone mine{progress.decided(), progress.history(), {}};
    mine.signature = auth.sign(signed_bytes(mine));
    step.send_others(message(mine));
    milestones.passed(mine);
    if (auto complete = milestones.add(members.me(), mine, members.view().one_correct())) {
      use_proof(std::move(*complete));
    }
  }
  if (progress.decided() == proof.instance && progress.history() != proof.history) {
    step.halt(concat("the others decided something else up to ", progress.decided()));
  }
}

void Core::Parts::handle(Sender from, const Milestone& m) {
  if (!members.byzantine() || from.id == members.me()) return;
  decided_by[from.index] = std::max(decided_by[from.index], m.instance);
  if (!milestones.wants(m.instance)) return;
  if (!auth.verify(from.id, signed_bytes(m), m.signature)) return;
  if (auto complete = milestones.add(from.id, m, members.view().one_correct())) {
    use_proof(std::move(*complete));
  }
}

// The proof is good.
void Core::Parts::use_proof(DecisionProof better) {
  if (better.instance <= proof.instance) return;
  if (const auto mine = milestones.history_at(better.instance); mine && *mine != better.history) {
    return step.halt(concat("the others decided something else up to ", better.instance));
  }
  if (better.instance == progress.decided() && better.history != progress.history()) {
    return step.halt(concat("the others decided something else up to ", progress.decided()));
  }
  proof = std::move(better);
  milestones.proven(proof.instance);
  step.persist(ProofKept{proof});
  if (proof.instance > progress.decided()) {
    others_ahead = true;
    // It may be the proof that this replica needs to leave its view: the others may never show it
    // an older one, and in the old view it takes no batch of the next.
    if (!SMR_MUTANT("wait_for_own_proof")) pass_view();
    return check_far_behind();
  }
  pass_view();
  if (progress.decided() > kept_decided) {
    instances.drop_until(std::min(proof.instance, progress.decided() - kept_decided));
  }
  // Some waited because they were too far above the old one.
  for (Instance i = progress.decided() + 1; i < instances.end() && !step.halted(); ++i) {
    consider(i, *instances.find(i));
  }
}

bool Core::Parts::proves(const DecisionProof& claimed) const {
  if (claimed.instance == 0) return claimed.history == Digest{};
  // Verified before, or made here: whatever the signatures are, the statement is true.
  if (claimed.instance == proof.instance && claimed.history == proof.history) return true;
  return views.proves(claimed);
}

}  // namespace piracema::smr
