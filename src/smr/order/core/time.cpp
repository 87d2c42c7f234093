#include <utility>

#include "smr/order/core/parts.h"
#include "smr/order/step/earliest.h"

/// What happens because time has passed: the replica starts, says again what may be lost, proposes.
namespace piracema::smr {

void Core::Parts::on(Tick&) {
  if (!started) start();
  leader_watch.tick();
  if (look_again_at && step.now() >= *look_again_at) look_again();
  if (stuck() && step.now() >= timers.due()) say_again();
  tick_state();
  if (leadership.leads()) {
    propose();
    reads.confirm(proposer.highest_proposed());
    proposer.beat();
  }
}

// A replica that was stopped, or had no processor, finds all its timers run out at once, though
// nobody had the time to answer: what it missed is no fault of the leader's. Where everybody stood
// still, everybody finds so. A leader that stays silent is not forgiven a third time.
void Core::Parts::forgive_own_lateness(Time time) {
  const Time much = Time(settings.silence_timeout) / 4;
  if (!started || step.halted() || divergence || time - step.now() <= much ||
      SMR_MUTANT("blames_others")) {
    return;
  }
  const auto due = next_deadline();
  if (due && time - *due > much) leader_watch.forgive(time, time - *due);
}

// The first step: timers begin, and what is known to be decided is executed again.
void Core::Parts::start() {
  started = true;
  patience.start(step.now());
  clock.start(step.now());
  leader_watch.begin(step.now());
  timers.restart(step.now());
  recover();
  clock.recovered(step.now());
  proposer.start();
  step.persist(RegencyEntered{leadership.regency(), members.view().id});
  if (!leadership.synced()) {
    patience.wait_for_sync(step.now());
    leader_change.send_stop_data();
  }
  // What it proposed before it crashed was perhaps not written down, and a second proposal for the
  // same place in the same regency could be taken for the first.
  if (leadership.is_leader() && !life.may_lead_in(leadership.regency())) {
    leader_change.demand("this leader has restarted");
  }
}

Instance Core::Parts::proposal_horizon() const {
  Instance highest = checkpoints.horizon();
  if (members.byzantine()) highest = std::min(highest, proofs.proven() + unproven_max);
  return views.next() ? std::min(highest, views.next_from() - 1) : highest;
}

// Called when all that had arrived was looked at (next_deadline asks for it at once): a batch has
// as many requests as came in the meantime, and nobody waits for more of them.
void Core::Parts::propose() {
  while (proposer.can_propose(proposal_horizon())) {
    const Instance instance = proposer.next();
    BatchPtr batch = proposer.propose();
    if (!batch) return;
    Consensus* consensus = instance_at(instance);
    if (!consensus || consensus->took_in(leadership.regency())) continue;
    // Its requests were verified when they came.
    take(instance, *consensus, std::move(batch));
  }
}

std::optional<Time> Core::Parts::next_deadline() const {
  if (step.halted()) return std::nullopt;
  if (divergence) return divergence->next_deadline();
  if (!started || proposer.can_propose(proposal_horizon())) return step.now();
  if (leadership.leads() && reads.some_wait()) return step.now();
  Earliest next;
  next.by(state_deadline());
  next.by(leader_watch.next_deadline());
  next.by(proposer.next_deadline());
  if (leadership.leads()) next.by(reads.next_deadline());
  next.by(look_again_at);
  if (stuck()) next.by(timers.due());
  return next.time() ? std::max(*next.time(), step.now()) : next.time();
}

}  // namespace piracema::smr
