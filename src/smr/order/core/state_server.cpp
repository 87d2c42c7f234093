#include "smr/order/core/state_server.h"

#include <algorithm>
#include <utility>

namespace piracema::smr {

StateServer::StateServer(Step& step, const Membership& members, const FormerLife& life,
                         const Leadership& leadership, const Progress& progress,
                         Instances& instances, DecidedLog& decided_log, Checkpoints& checkpoints,
                         const Reconfiguration& views, const DecisionProofs& proofs,
                         Proposer& proposer)
    : step_(step),
      members_(members),
      life_(life),
      leadership_(leadership),
      progress_(progress),
      instances_(instances),
      decided_log_(decided_log),
      checkpoints_(checkpoints),
      views_(views),
      proofs_(proofs),
      proposer_(proposer) {}

// ---- checkpoints ---------------------------------------------------------------------------

void StateServer::taken(const CheckpointInfo& checkpoint, std::vector<Digest> chunks) {
  checkpoints_.taken(step_.now(), checkpoint, std::move(chunks), step_.out());
  forget_checkpointed();
}

void StateServer::handle(Sender from, const CheckpointVote& m) {
  checkpoints_.on_vote(from.id, m, step_.out());
  forget_checkpointed();
}

void StateServer::forget_checkpointed() {
  if (!checkpoints_.stable()) return;
  decided_log_.truncate(std::min(progress_.decided(), checkpoints_.kept_from()));
}

void StateServer::handle(Sender from, const ManifestRequest& m) {
  checkpoints_.fetched(step_.now(), from.id, m.instance);
  const auto* chunks = checkpoints_.manifest(m.instance);
  if (!chunks) return say_gone(from, m.instance);
  step_.send(from.id, Manifest{m.instance, *chunks});
}

void StateServer::handle(Sender from, const ChunkRequest& m) {
  checkpoints_.fetched(step_.now(), from.id, m.instance);
  if (!checkpoints_.manifest(m.instance)) return say_gone(from, m.instance);
  step_.act(SendChunk{from.id, m.instance, m.chunk});
}

void StateServer::say_gone(Sender from, Instance instance) {
  const auto& stable = checkpoints_.stable();
  if (from.id == members_.me()) return;
  step_.send(from.id, Gone{instance, stable ? stable->checkpoint.instance : 0});
}

// ---- the log -------------------------------------------------------------------------------

void StateServer::handle(Sender from, const StateRequest& m) {
  if (from.id == members_.me()) return;
  const Instance decided = progress_.decided();
  if (m.silent_until > decided) {
    proposer_.fill_until(std::min(m.silent_until, decided + view_delay));
  }
  if (!life_.remembered()) return;
  // First whose word counts, then the word.
  for (const SignedView& one : views_.since(0)) step_.send(from.id, one);
  StateOffer offer{m.nonce, members_.view().id, leadership_.asked_for(), decided, voted()};
  offer.log_from = decided_log_.first();
  offer.proof = proofs_.best();
  offer.checkpoint = checkpoints_.stable();
  if (m.decided + 1 >= decided_log_.first()) {
    // It goes on by the batches, and has to find them still when it asks for them.
    checkpoints_.follows(step_.now(), from.id, m.decided);
  } else if (offer.checkpoint && offer.checkpoint->checkpoint.instance > m.decided) {
    checkpoints_.offered(step_.now(), from.id);
  }
  step_.send(from.id, std::move(offer), true);
}

Instance StateServer::voted() const {
  for (Instance i = instances_.end(); i-- > progress_.decided() + 1;) {
    if (instances_.find(i)->taken) return i;
  }
  return progress_.decided();
}

void StateServer::handle(Sender from, const LogRequest& m) {
  if (m.from < decided_log_.first()) return say_gone(from, m.from);
  // Who came that far by a checkpoint needs what follows on it until it is level.
  checkpoints_.follows(step_.now(), from.id, m.from - 1);
  LogSuffix suffix = decided_log_.suffix(m);
  suffix.proof = proofs_.best();
  step_.send(from.id, std::move(suffix));
}

}  // namespace piracema::smr
