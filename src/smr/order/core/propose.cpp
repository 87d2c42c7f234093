#include "smr/order/core/parts.h"
#include "smr/order/messages/batch.h"

/// What a leader does (paper 003, section 2.1.1: ordering). Unlike BFT-SMaRt, which orders one
/// batch at a time, it has several instances open; a change of the leader looks at all of them.
namespace piracema::smr {

bool Core::Parts::can_propose() const {
  if (!started || !leadership.leads() ||
      progress.decided() - progress.executed() >= settings.backlog)
    return false;
  if (next_instance > std::max(progress.decided(), base) + settings.window) return false;
  if (is_behind_as_leader() || next_instance > checkpoints.horizon()) return false;
  if (members.byzantine() && next_instance > proof.instance + unproven_max) return false;
  if (views.next() && next_instance >= views.next_from()) return false;
  // Asked for in batch_for; the answer makes it possible.
  if (fetching == next_instance) return false;
  if (bound.contains(next_instance) || next_instance <= progress.decided()) return true;
  return pool.has_waiting() || next_instance <= fill_until || has_to_tick();
}

// It would not remember its own proposal, and where f are down already nothing is decided without
// its vote.
bool Core::Parts::is_behind_as_leader() const {
  return next_instance > progress.decided() + view_delay && !SMR_MUTANT("leads_from_behind");
}

// Called when all that had arrived was looked at (next_deadline asks for it at once): a batch has
// as many requests as came in the meantime, and nobody waits for more of them.
void Core::Parts::propose() {
  while (can_propose()) {
    const Instance instance = next_instance;
    if (instance == 1) clock.propose_first(step.now());
    BatchPtr batch = batch_for(instance);
    if (!batch) return;
    next_instance += 1;
    beat_at = step.now() + settings.heartbeat_interval;
    // A proposal promises nothing: a leader that restarts does not lead its old regency. But that
    // it has entered this one has to be durable, or it would not know that it led.
    step.send_others(message(Propose{instance, leadership.regency(), batch}),
                     !leadership.entry_durable());
    Consensus* consensus = instance_at(instance);
    if (!consensus || consensus->took_in(leadership.regency())) continue;
    // Its requests were verified when they came.
    take(instance, *consensus, std::move(batch));
  }
}

// What is bound there, or decided without others knowing it, or else what waits.
BatchPtr Core::Parts::batch_for(Instance instance) {
  const Consensus* consensus = instances.find(instance);
  const auto value = bound.find(instance);
  std::optional<Digest> settled = consensus ? consensus->decided : std::nullopt;
  if (value != bound.end()) settled = value->second;
  if (!settled || SMR_MUTANT("propose_over_bound")) {
    if (!has_to_tick() && pool.has_waiting()) return pool.propose(clock.time(step.now()));
    ticked_at = instance;
    return make_batch(clock.time(step.now()), {});
  }
  if (BatchPtr batch = consensus ? consensus->find(*settled) : nullptr) return batch;
  fetching = instance;
  step.send_others(message(FetchBatch{instance, *settled}));
  return nullptr;
}

// A batch without requests is a tick. The next one only when the service has seen that: it tells
// then whether it wants another.
bool Core::Parts::has_to_tick() const {
  return progress.timer() && clock.time(step.now()) >= *progress.timer() &&
         progress.executed() >= ticked_at && !SMR_MUTANT("no_ticks");
}

std::optional<Time> Core::Parts::timer_at() const {
  if (!progress.timer()) return std::nullopt;
  return clock.when(step.now(), *progress.timer());
}

void Core::Parts::reserve(const BatchPtr& batch) {
  pool.proposed(batch);
  clock.advance(step.now(), batch->time);
}

void Core::Parts::beat() {
  if (step.now() < beat_at) return;
  beat_at = step.now() + settings.heartbeat_interval;
  step.send_others(message(Heartbeat{members.view().id, leadership.regency(), progress.decided()}));
}

}  // namespace piracema::smr
