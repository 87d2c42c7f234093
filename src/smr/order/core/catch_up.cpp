#include "smr/order/core/catch_up.h"

#include <utility>

#include "smr/order/messages/proofs.h"
#include "smr/order/step/earliest.h"

namespace piracema::smr {

CatchUp::CatchUp(Time resend_interval, Step& step, const Membership& members, FormerLife& life,
                 const Leadership& leadership, const Progress& progress, Checkpoints& checkpoints,
                 Reconfiguration& views, StateTransfer& transfer, const DecisionProofs& proofs,
                 LeaderChange& leader_change, StateServer& server, Ordering& ordering,
                 Instance backlog, const Authenticator& auth)
    : resend_interval_(resend_interval),
      step_(step),
      members_(members),
      life_(life),
      leadership_(leadership),
      progress_(progress),
      checkpoints_(checkpoints),
      views_(views),
      transfer_(transfer),
      proofs_(proofs),
      leader_change_(leader_change),
      server_(server),
      ordering_(ordering),
      backlog_(backlog),
      auth_(auth) {}

// ---- what others have ----------------------------------------------------------------------

void CatchUp::handle(Sender from, const StateOffer& m) {
  if (!transfer_.on_offer(step_.now(), from.id, m, ordering_.position(), step_.out())) return;
  // It may be all that keeps this replica from the next view.
  use_proof(m.proof);
  if (m.checkpoint && checkpoints_.is_news(m.checkpoint->checkpoint.instance) &&
      is_believed(*m.checkpoint)) {
    checkpoints_.stable_elsewhere(m.checkpoint->checkpoint.instance);
    checkpoints_.prove(from.id, *m.checkpoint, step_.out());
    server_.forget_checkpointed();
  }
  if (life_.remembered()) return;
  life_.on_offer(from.id, m, members_.view());
  regain_memory();
}

void CatchUp::use_proof(const DecisionProof& proof) {
  if (!members_.byzantine() || proof.instance <= proofs_.proven()) return;
  if (proofs_.proves(proof)) ordering_.use_proof(proof);
}

// Who only crashes need not be believed by a chain of signatures, which may be behind the views.
bool CatchUp::is_believed(const CheckpointProof& offered) const {
  return !members_.byzantine() ||
         (views_.trusts(offered.checkpoint.view) && proven(offered, auth_));
}

void CatchUp::handle(Sender from, const Gone& m) {
  transfer_.on_gone(step_.now(), from.id, m, ordering_.position(), step_.out());
}

// ---- batches -------------------------------------------------------------------------------

void CatchUp::handle(Sender from, const LogSuffix& m) {
  auto batches = transfer_.on_suffix(step_.now(), from.id, m, ordering_.position(), step_.out());
  use_proof(m.proof);
  learn(m.from, std::move(batches));
}

void CatchUp::learn(Instance from, std::vector<BatchPtr> batches) {
  for (std::size_t i = 0; i < batches.size(); ++i) {
    // The rest is asked for again when a checkpoint is stable, or the next view begins.
    const Instance decided = progress_.decided();
    if (step_.halted() || ordering_.loading() || ordering_.at_boundary()) break;
    if (decided >= checkpoints_.horizon()) break;
    if (waits_for_service()) {
      batches.erase(batches.begin(), batches.begin() + static_cast<std::ptrdiff_t>(i));
      transfer_.keep(from + i, std::move(batches));
      break;
    }
    // One of them may have been all that others, decided long ago, were waiting for.
    if (from + i == decided + 1) ordering_.learn(std::move(batches[i]));
  }
  transfer_.went_on(step_.now(), ordering_.position(), step_.out());
  regain_memory();
}

// ---- checkpoints ---------------------------------------------------------------------------

void CatchUp::handle(Sender from, const Manifest& m) {
  std::vector<Action> wanted;
  transfer_.on_manifest(step_.now(), from.id, m, wanted);
  act_or_load(wanted);
}

void CatchUp::handle(Sender from, const Chunk& m) {
  std::vector<Action> wanted;
  transfer_.on_chunk(step_.now(), from.id, m, wanted);
  act_or_load(wanted);
}

void CatchUp::act_or_load(std::vector<Action>& wanted) {
  for (Action& action : wanted) {
    if (const auto* complete = std::get_if<LoadCheckpoint>(&action)) {
      load(complete->checkpoint);
    } else {
      step_.out().push_back(std::move(action));
    }
  }
}

// What the core hands out while the service becomes another would be lost.
void CatchUp::load(const CheckpointInfo& checkpoint) {
  if (checkpoint.instance > progress_.decided()) {
    ordering_.set_loading(true);
    return step_.act(LoadCheckpoint{checkpoint});
  }
  // By now this replica is further than that.
  on(CheckpointLoaded{checkpoint.instance, "it is not needed any more"});
}

void CatchUp::on(const CheckpointLoaded& event) {
  ordering_.set_loading(false);
  auto loaded = transfer_.on_loaded(event, step_.out());
  if (loaded) {
    const CheckpointInfo checkpoint = loaded->proof.checkpoint;
    step_.persist(CheckpointStable{loaded->proof});
    checkpoints_.adopt(std::move(loaded->proof), std::move(loaded->chunks));
    ordering_.jump_to(checkpoint);
    step_.act(Truncate{checkpoint.instance});
  }
  transfer_.went_on(step_.now(), ordering_.position(), step_.out());
  regain_memory();
  ordering_.advance();
}

// ---- a lost disk ---------------------------------------------------------------------------

void CatchUp::regain_memory() {
  if (life_.remembered()) return;
  const auto fence = life_.fence(members_.view());
  if (!fence || progress_.decided() < fence->instance) return;
  life_.remember(fence->instance);
  life_.was_in(fence->regency);
  step_.persist(MemoryRegained{fence->instance, fence->regency, members_.view().id});
  step_.note("votes again: it has all that it may have voted for");
  if (fence->regency > leadership_.regency()) leader_change_.enter(fence->regency);
}

// ---- time ----------------------------------------------------------------------------------

bool CatchUp::has_to_ask() const {
  return !life_.remembered() || !members_.own() || is_left_behind();
}

void CatchUp::look_whether_left_behind() {
  if (!views_.next()) return left_behind_at_.reset();
  const Instance before = std::exchange(seen_at_, progress_.decided());
  if (left_behind_at_ && before == seen_at_) return;
  left_behind_at_ = step_.now() + 2 * resend_interval_;
}

// One that is no member yet has to be near when it becomes one: while the group goes on it asks
// again soon, and else now and then.
Time CatchUp::ask_interval() {
  const Instance decided = progress_.decided();
  const bool went_on = decided > std::exchange(asked_at_, decided);
  if (!life_.remembered()) return resend_interval_;
  return went_on ? resend_interval_ / 4 : 10 * resend_interval_;
}

void CatchUp::tick() {
  checkpoints_.tick(step_.now(), step_.out());
  views_.tick(step_.now(), step_.out());
  if (can_go_on()) {
    const Instance from = progress_.decided() + 1;
    learn(from, transfer_.take_kept(ordering_.position()));
  }
  transfer_.tick(step_.now(), ordering_.position(), step_.out());
  look_whether_left_behind();
  if (!has_to_ask() || transfer_.active() || step_.now() < ask_again_) return;
  ask_again_ = step_.now() + ask_interval();
  const auto fence = life_.fence(members_.view());
  transfer_.start(step_.now(), ordering_.position(), fence ? fence->instance : 0, step_.out());
}

std::optional<Time> CatchUp::next_deadline() const {
  if (can_go_on()) return step_.now();
  Earliest next;
  next.by(checkpoints_.next_deadline());
  next.by(views_.next_deadline());
  next.by(transfer_.next_deadline());
  if (left_behind_at_ && !is_left_behind()) next.by(left_behind_at_);
  if (has_to_ask() && !transfer_.active()) next.by(ask_again_);
  return next.time();
}

}  // namespace piracema::smr
