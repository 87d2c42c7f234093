#include "smr/order/core/parts.h"

/// Checkpoints, plugged in, and what others want who are behind.
namespace piracema::smr {

// ---- checkpoints ---------------------------------------------------------------------------

void Core::Parts::on(CheckpointTaken& event) {
  checkpoints.taken(step.now(), event.checkpoint, std::move(event.chunks), step.out());
  forget_checkpointed();
}

void Core::Parts::on(CheckpointSkipped& event) { checkpoints.skipped(event.instance); }

void Core::Parts::handle(Sender from, const CheckpointVote& m) {
  checkpoints.on_vote(from.id, m, step.out());
  forget_checkpointed();
}

// Whoever needs what is older gets the checkpoint.
void Core::Parts::forget_checkpointed() {
  if (checkpoints.stable())
    decided_log.truncate(std::min(progress.decided(), checkpoints.kept_from()));
}

void Core::Parts::handle(Sender from, const ManifestRequest& m) {
  checkpoints.fetched(step.now(), from.id, m.instance);
  const auto* chunks = checkpoints.manifest(m.instance);
  if (!chunks) return say_gone(from, m.instance);
  step.send(from.id, Manifest{m.instance, *chunks});
}

void Core::Parts::handle(Sender from, const ChunkRequest& m) {
  checkpoints.fetched(step.now(), from.id, m.instance);
  if (!checkpoints.manifest(m.instance)) return say_gone(from, m.instance);
  step.act(SendChunk{from.id, m.instance, m.chunk});
}

void Core::Parts::say_gone(Sender from, Instance instance) {
  const auto& stable = checkpoints.stable();
  if (from.id == members.me() || SMR_MUTANT("silent_if_gone")) return;
  step.send(from.id, Gone{instance, stable ? stable->checkpoint.instance : 0});
}

// ---- what others want ----------------------------------------------------------------------

void Core::Parts::handle(Sender from, const StateRequest& m) {
  if (from.id == members.me()) return;
  if (m.silent_until > progress.decided()) {
    proposer.fill_until(std::min(m.silent_until, progress.decided() + view_delay));
  }
  if (!life.remembered()) return;
  // First whose word counts, then the word.
  for (const SignedView& one : views.since(0)) step.send(from.id, one);
  StateOffer offer{m.nonce, members.view().id, leadership.asked_for(), progress.decided(), voted()};
  offer.log_from = decided_log.first();
  offer.proof = proofs.best();
  offer.checkpoint = checkpoints.stable();
  if (m.decided + 1 >= decided_log.first() && !SMR_MUTANT("forgets_who_follows")) {
    // It goes on by the batches, and has to find them still when it asks for them.
    checkpoints.follows(step.now(), from.id, m.decided);
  } else if (offer.checkpoint && offer.checkpoint->checkpoint.instance > m.decided) {
    checkpoints.fetched(step.now(), from.id, offer.checkpoint->checkpoint.instance);
  }
  step.send(from.id, std::move(offer), true);
}

Instance Core::Parts::voted() {
  for (Instance i = instances.end(); i-- > progress.decided() + 1;) {
    if (instances.find(i)->taken) return i;
  }
  return progress.decided();
}

void Core::Parts::handle(Sender from, const LogRequest& m) {
  if (m.from < decided_log.first()) return say_gone(from, m.from);
  // Who came that far by a checkpoint needs what follows on it until it is level.
  checkpoints.follows(step.now(), from.id, m.from - 1);
  LogSuffix suffix = decided_log.suffix(m);
  suffix.proof = proofs.best();
  step.send(from.id, std::move(suffix));
}

}  // namespace piracema::smr
