#include "smr/order/core/parts.h"
#include "smr/order/messages/proofs.h"

/// State transfer, plugged in: what it is told, and what becomes of the order.
namespace piracema::smr {

// ---- catching up ---------------------------------------------------------------------------

// Somebody is further than what the others still repeat, or repeating does not help.
void Core::Parts::check_far_behind() {
  const Instance known = std::max(peers.reached_by(members.view().one_correct()), proofs.proven());
  // Nobody says again what is proven for himself. What this replica waits for is in an offer.
  const bool lacks_proof = members.byzantine() && proofs.unproven();
  const bool in_vain = timers.in_vain() && (known > progress.decided() || lacks_proof);
  if (known > progress.decided() + kept_decided / 2 || in_vain) {
    if (!transfer.active()) transfer.start(step.now(), position(), 0, step.out());
  }
}

void Core::Parts::handle(Sender from, const StateOffer& m) {
  if (!transfer.on_offer(step.now(), from.id, m, position(), step.out())) return;
  // It may be all that keeps this replica from the next view.
  if (members.byzantine() && m.proof.instance > proofs.proven() && proofs.proves(m.proof))
    use_proof(m.proof);
  // Who only crashes need not be believed by a chain of signatures, which may be behind the views.
  const auto is_believed = [this](const CheckpointProof& offered) {
    return !members.byzantine() || (views.trusts(offered.checkpoint.view) && proven(offered, auth));
  };
  if (m.checkpoint && checkpoints.is_news(m.checkpoint->checkpoint.instance) &&
      is_believed(*m.checkpoint)) {
    checkpoints.stable_elsewhere(m.checkpoint->checkpoint.instance);
    checkpoints.prove(from.id, *m.checkpoint, step.out());
    forget_checkpointed();
  }
  if (life.remembered()) return;
  life.on_offer(from.id, m, members.view());
  regain_memory();
}

void Core::Parts::handle(Sender from, const Manifest& m) {
  std::vector<Action> wanted;
  transfer.on_manifest(step.now(), from.id, m, wanted);
  act_or_load(wanted);
}

void Core::Parts::handle(Sender from, const Chunk& m) {
  std::vector<Action> wanted;
  transfer.on_chunk(step.now(), from.id, m, wanted);
  act_or_load(wanted);
}

void Core::Parts::act_or_load(std::vector<Action>& wanted) {
  for (Action& action : wanted) {
    if (const auto* complete = std::get_if<LoadCheckpoint>(&action)) {
      load(complete->checkpoint);
    } else {
      step.out().push_back(std::move(action));
    }
  }
}

void Core::Parts::handle(Sender from, const LogSuffix& m) {
  auto batches = transfer.on_suffix(step.now(), from.id, m, position(), step.out());
  if (members.byzantine() && m.proof.instance > proofs.proven() && proofs.proves(m.proof))
    use_proof(m.proof);
  for (std::size_t i = 0; i < batches.size(); ++i) {
    // The rest is asked for again when the service has come after, and a checkpoint is stable.
    if (step.halted() || progress.decided() >= progress.executed() + settings.backlog || loading ||
        at_boundary())
      break;
    if (progress.decided() >= checkpoints.horizon()) break;
    // One of them may have been all that others, decided long ago, were waiting for.
    if (m.from + i == progress.decided() + 1) learn(std::move(batches[i]));
  }
  transfer.went_on(step.now(), position(), step.out());
  regain_memory();
}

void Core::Parts::handle(Sender from, const Gone& m) {
  transfer.on_gone(step.now(), from.id, m, position(), step.out());
}

void Core::Parts::learn(BatchPtr batch) {
  Consensus& one = instances.at(progress.decided() + 1, members.view().n());
  const Digest digest = batch->digest;
  one.keep(std::move(batch), false);
  catching_up = true;
  decide(progress.decided() + 1, one, digest);
  // It may have been known to be decided, and have waited for its batch alone.
  advance();
  catching_up = false;
}

// What the core hands out while the service becomes another would be lost.
void Core::Parts::load(const CheckpointInfo& checkpoint) {
  if (checkpoint.instance > progress.decided()) {
    loading = true;
    return step.act(LoadCheckpoint{checkpoint});
  }
  // By now this replica is further than that.
  CheckpointLoaded useless{checkpoint.instance, "it is not needed any more"};
  on(useless);
}

void Core::Parts::on(CheckpointLoaded& event) {
  loading = false;
  auto loaded = transfer.on_loaded(event, step.out());
  if (loaded) {
    const CheckpointInfo checkpoint = loaded->proof.checkpoint;
    step.persist(CheckpointStable{loaded->proof});
    checkpoints.adopt(std::move(loaded->proof), std::move(loaded->chunks));
    jump_to(checkpoint);
    step.act(Truncate{checkpoint.instance});
  }
  transfer.went_on(step.now(), position(), step.out());
  regain_memory();
  advance();
}

void Core::Parts::jump_to(const CheckpointInfo& checkpoint) {
  progress.jump_to(checkpoint.instance, checkpoint.history);
  clock.jump_to(step.now(), checkpoint.time);
  instances.drop_until(progress.decided());
  decided_log.restart_after(progress.decided());
  checkpoints.restart_after(progress.decided());
  proposer.jumped();
  views.jump(checkpoint, step.out());
  use_view();
  // What this replica wrote below it is forgotten. In a change of the leader a proof has to stand
  // for that, or what another one still remembers of it could be neither bound nor free.
  if (!SMR_MUTANT("no_proof_of_checkpoints")) {
    proofs.expect(progress.decided());
    if (members.byzantine()) pass_milestone();
  }
  pass_view();
  if (!SMR_MUTANT("waits_for_the_past")) pool.forget_waiting();
  patience.jumped(step.now());
  reads.refuse();
}

// ---- a lost disk ---------------------------------------------------------------------------

void Core::Parts::regain_memory() {
  if (life.remembered()) return;
  const auto fence = life.fence(members.view());
  if (!fence || progress.decided() < fence->instance) return;
  life.remember(fence->instance);
  life.was_in(fence->regency);
  step.persist(MemoryRegained{fence->instance, fence->regency, members.view().id});
  step.note("votes again: it has all that it may have voted for");
  if (fence->regency > leadership.regency()) leader_change.enter(fence->regency);
}

// One that is no member yet has to be near when it becomes one: while the group goes on it asks
// again soon, and else now and then.
Time Core::Parts::learner_interval() {
  const bool went_on = progress.decided() > std::exchange(asked_at, progress.decided());
  if (!life.remembered()) return settings.resend_interval;
  return went_on ? Time(settings.resend_interval) / 4 : 10 * Time(settings.resend_interval);
}

void Core::Parts::tick_state() {
  checkpoints.tick(step.now(), step.out());
  views.tick(step.now(), step.out());
  transfer.tick(step.now(), position(), step.out());
  if (has_to_ask() && !transfer.active() && step.now() >= ask_again) {
    ask_again = step.now() + learner_interval();
    const auto fence = life.fence(members.view());
    transfer.start(step.now(), position(), fence ? fence->instance : 0, step.out());
  }
}

std::optional<Time> Core::Parts::state_deadline() const {
  std::optional<Time> next;
  const auto by = [&next](std::optional<Time> time) {
    if (time && (!next || *time < *next)) next = time;
  };
  by(checkpoints.next_deadline());
  by(views.next_deadline());
  by(transfer.next_deadline());
  if (has_to_ask() && !transfer.active()) by(ask_again);
  return next;
}

}  // namespace piracema::smr
