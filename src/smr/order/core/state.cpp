#include "smr/order/core/parts.h"
#include "smr/order/messages/proofs.h"

/// State transfer, plugged in: what it is told, and what becomes of the order.
namespace piracema::smr {

// ---- catching up ---------------------------------------------------------------------------

// Somebody is further than what the others still repeat, or repeating does not help.
void Core::Parts::check_far_behind() {
  auto sorted = decided_by;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const Instance known = std::max(sorted[view.one_correct() - 1], proof.instance);
  // Nobody says again what is proven for himself. What this replica waits for is in an offer.
  const bool lacks_proof =
      byzantine() && milestones.own() && milestones.own()->instance > proof.instance;
  const bool in_vain = say_again_count >= 3 && (known > decided || lacks_proof);
  if (known > decided + kept_decided / 2 || in_vain) {
    if (!transfer.active()) transfer.start(now, position(), 0, *out);
  }
}

void Core::Parts::handle(Sender from, const StateOffer& m) {
  if (!transfer.on_offer(now, from.id, m, position(), *out)) return;
  // It may be all that keeps this replica from the next view.
  if (byzantine() && m.proof.instance > proof.instance && proves(m.proof)) use_proof(m.proof);
  // Who only crashes need not be believed by a chain of signatures, which may be behind the views.
  const auto is_believed = [this](const CheckpointProof& offered) {
    return !byzantine() || (views.trusts(offered.checkpoint.view) && proven(offered, auth));
  };
  if (m.checkpoint && checkpoints.is_news(m.checkpoint->checkpoint.instance) &&
      is_believed(*m.checkpoint)) {
    checkpoints.stable_elsewhere(m.checkpoint->checkpoint.instance);
    checkpoints.prove(from.id, *m.checkpoint, *out);
    forget_checkpointed();
  }
  if (voting) return;
  amnesia.on_offer(from.id, m, view);
  regain_memory();
}

void Core::Parts::handle(Sender from, const Manifest& m) {
  std::vector<Action> wanted;
  transfer.on_manifest(now, from.id, m, wanted);
  act_or_load(wanted);
}

void Core::Parts::handle(Sender from, const Chunk& m) {
  std::vector<Action> wanted;
  transfer.on_chunk(now, from.id, m, wanted);
  act_or_load(wanted);
}

void Core::Parts::act_or_load(std::vector<Action>& wanted) {
  for (Action& action : wanted) {
    if (const auto* complete = std::get_if<LoadCheckpoint>(&action)) {
      load(complete->checkpoint);
    } else {
      out->push_back(std::move(action));
    }
  }
}

void Core::Parts::handle(Sender from, const LogSuffix& m) {
  auto batches = transfer.on_suffix(now, from.id, m, position(), *out);
  if (byzantine() && m.proof.instance > proof.instance && proves(m.proof)) use_proof(m.proof);
  for (std::size_t i = 0; i < batches.size(); ++i) {
    // The rest is asked for again when the service has come after, and a checkpoint is stable.
    if (halted || decided >= executed + settings.backlog || loading || at_boundary()) break;
    if (decided >= checkpoints.horizon()) break;
    // One of them may have been all that others, decided long ago, were waiting for.
    if (m.from + i == decided + 1) learn(std::move(batches[i]));
  }
  transfer.went_on(now, position(), *out);
  regain_memory();
}

void Core::Parts::handle(Sender from, const Gone& m) {
  transfer.on_gone(now, from.id, m, position(), *out);
}

void Core::Parts::learn(BatchPtr batch) {
  Consensus& one = instances.at(decided + 1, view.n());
  const Digest digest = batch->digest;
  one.keep(std::move(batch), false);
  catching_up = true;
  decide(decided + 1, one, digest);
  // It may have been known to be decided, and have waited for its batch alone.
  advance();
  catching_up = false;
}

// What the core hands out while the service becomes another would be lost.
void Core::Parts::load(const CheckpointInfo& checkpoint) {
  if (checkpoint.instance > decided) {
    loading = true;
    return act(LoadCheckpoint{checkpoint});
  }
  // By now this replica is further than that.
  CheckpointLoaded useless{checkpoint.instance, "it is not needed any more"};
  on(useless);
}

void Core::Parts::on(CheckpointLoaded& event) {
  loading = false;
  auto loaded = transfer.on_loaded(event, *out);
  if (loaded) {
    const CheckpointInfo checkpoint = loaded->proof.checkpoint;
    persist(CheckpointStable{loaded->proof});
    checkpoints.adopt(std::move(loaded->proof), std::move(loaded->chunks));
    jump_to(checkpoint);
    act(Truncate{checkpoint.instance});
  }
  transfer.went_on(now, position(), *out);
  regain_memory();
  advance();
}

void Core::Parts::jump_to(const CheckpointInfo& checkpoint) {
  decided = executed = checkpoint.instance;
  history = checkpoint.history;
  clock_time = decided_time = checkpoint.time;
  clock_at = now;
  clock_bound.decided(now, clock_time);
  instances.drop_until(decided);
  decided_log.restart_after(decided);
  checkpoints.restart_after(decided);
  next_instance = std::max(next_instance, decided + 1);
  views.jump(checkpoint, *out);
  use_view();
  // What this replica wrote below it is forgotten. In a change of the leader a proof has to stand
  // for that, or what another one still remembers of it could be neither bound nor free.
  if (!SMR_MUTANT("no_proof_of_checkpoints")) {
    milestones.expect(decided);
    if (byzantine()) pass_milestone();
  }
  pass_view();
  if (!SMR_MUTANT("waits_for_the_past")) pool.forget_waiting();
  progress_at = now;
  refuse_reads();
}

// ---- a lost disk ---------------------------------------------------------------------------

void Core::Parts::regain_memory() {
  if (voting) return;
  const auto fence = amnesia.fence(view);
  if (!fence || decided < fence->instance) return;
  voting = true;
  votes_above = fence->instance;
  leads_from = fence->regency + 1;
  persist(MemoryRegained{fence->instance, fence->regency, view.id});
  note("votes again: it has all that it may have voted for");
  if (fence->regency > regency()) enter(fence->regency);
}

// One that is no member yet has to be near when it becomes one: while the group goes on it asks
// again soon, and else now and then.
Time Core::Parts::learner_interval() {
  const bool went_on = decided > std::exchange(asked_at, decided);
  if (!voting) return settings.resend_interval;
  return went_on ? Time(settings.resend_interval) / 4 : 10 * Time(settings.resend_interval);
}

void Core::Parts::tick_state() {
  checkpoints.tick(now, *out);
  views.tick(now, *out);
  transfer.tick(now, position(), *out);
  if (has_to_ask() && !transfer.active() && now >= ask_again) {
    ask_again = now + learner_interval();
    const auto fence = amnesia.fence(view);
    transfer.start(now, position(), fence ? fence->instance : 0, *out);
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
