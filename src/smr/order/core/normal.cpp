#include "base/text.h"
#include "smr/order/core/parts.h"
#include "smr/order/messages/batch.h"

/// From a proposal to this replica's first vote (core_decide.cpp goes on). Byzantine: PROPOSE,
/// WRITE, ACCEPT. Crash: PROPOSE, ACCEPT.
namespace piracema::smr {

// ---- proposals -----------------------------------------------------------------------------

void Core::Parts::handle(Sender from, const Propose& m) {
  if (from.id != members.view().leader(m.regency) || m.regency < leadership.regency()) return;
  if (m.regency > leadership.regency()) timers.see_others_ahead();
  if (m.regency == leadership.regency()) leader_watch.heard();
  // Nothing in the proposal is looked at for longer than a correct leader makes it.
  const Batch& batch = *m.batch;
  if (batch.requests.size() > settings.batch_requests ||
      batch.encoded.size() > settings.batch_bytes + settings.operation_bytes) {
    return;
  }
  Consensus* consensus = instance_at(m.instance);
  if (!consensus) return;
  if (consensus->took_in(m.regency) && !SMR_MUTANT("second_proposal")) return;
  if (consensus->decided == batch.digest && !consensus->batch) {
    consensus->keep(m.batch, false);
    advance();
  }
  // The first one of this regency is held; one of a later regency only where there is room, so
  // that no future leader can push the present one's out.
  const bool has_room = !consensus->held || consensus->held_in < leadership.regency();
  if (!has_room &&
      (m.regency != leadership.regency() || consensus->held_in == leadership.regency()))
    return;
  consensus->held = m.batch;
  consensus->held_in = m.regency;
  consensus->held_is_doubtful = false;
  consider(m.instance, *consensus);
}

void Core::Parts::consider(Instance instance, Consensus& consensus) {
  if (!consensus.held || consensus.held_in != leadership.regency() || !leadership.synced() ||
      !leadership.votes())
    return;
  if (!life.may_vote_at(instance)) return;
  if (consensus.took_in(leadership.regency()) && !SMR_MUTANT("second_proposal")) return;
  if (members.byzantine() && instance > proofs.proven() + unproven_max) return;
  const Digest& digest = consensus.held->digest;
  const Digest* value = proposer.bound_at(instance);
  if (value && *value != digest && !SMR_MUTANT("vote_over_bound")) {
    consensus.held = nullptr;
    return leader_change.demand(concat("leader ", leadership.leader(), " proposes at ", instance,
                                       " what its SYNC rules out"));
  }
  if (consensus.decided && *consensus.decided != digest) return;
  // What a correct replica has written before, or decided, it has verified.
  if (members.byzantine() && !value && !consensus.decided) {
    if (!consensus.held_is_doubtful) consensus.held_is_doubtful = !verified(*consensus.held);
    const bool too_early =
        !clock.allows(step.now(), consensus.held->time) && !SMR_MUTANT("believe_the_clock");
    // A MAC convinces only whom it was made for. If one_correct() members wrote it, one of them is
    // correct and the client did ask for it: so half-good MACs split nobody. Nor do clocks that
    // differ; and what is too early now is looked at again.
    some_doubtful |= consensus.held_is_doubtful;
    if ((consensus.held_is_doubtful || too_early) &&
        consensus.writes.count({leadership.regency(), digest}) < members.view().one_correct()) {
      if (too_early) {
        const Time at = clock.allowed_at(step.now(), consensus.held->time);
        look_again_at = std::min(look_again_at.value_or(at), at);
      }
      return;
    }
  }
  take(instance, consensus, consensus.held);
}

// A client may send the same request again with a better proof, and then this replica knows that
// the leader's was honest.
void Core::Parts::doubt_again() {
  some_doubtful = false;
  for (Instance i = progress.decided() + 1; i < instances.end() && !step.halted(); ++i) {
    Consensus* one = instances.find(i);
    if (!one || !one->held || !one->held_is_doubtful) continue;
    one->held_is_doubtful = false;
    consider(i, *one);
  }
}

void Core::Parts::look_again() {
  look_again_at.reset();
  for (Instance i = progress.decided() + 1; i < instances.end() && !step.halted(); ++i) {
    if (Consensus* one = instances.find(i)) consider(i, *one);
  }
}

// What waits here was verified when it came. To compare it takes less than a MAC, if it is long.
bool Core::Parts::verified(const Batch& batch) const {
  if (SMR_MUTANT("trust_the_leader")) return true;
  constexpr std::size_t is_long = 256;
  return std::all_of(batch.requests.begin(), batch.requests.end(), [this](const Request& request) {
    if (request.operation.size() >= is_long) return pool.holds(request) || auth.verify(request);
    return auth.verify(request) || pool.holds(request);
  });
}

// What is persisted here goes before the vote: a replica that comes back votes for nothing else.
void Core::Parts::take(Instance instance, Consensus& consensus, BatchPtr batch) {
  const Vote vote{leadership.regency(), batch->digest};
  if (consensus.is_logged(vote.digest)) {
    step.persist(ProposalRepeated{instance, vote.regency, vote.digest});
  } else {
    step.persist(ProposalTaken{instance, vote.regency, batch});
  }
  consensus.take(vote.regency, std::move(batch));
  if (SMR_MUTANT("decided_before_proposed")) return;
  if (instance == progress.decided() + 1 && consensus.ready()) advance();
  if (members.byzantine()) {
    step.send_all(message(Write{instance, vote.regency, vote.digest}), true);
    check_written(instance, consensus);
  } else {
    consensus.certify(vote);
    step.send_all(message(Accept{instance, vote.regency, vote.digest}),
                  !SMR_MUTANT("accept_before_log"));
  }
  // It may have been decided before its proposal came.
  advance();
}

// ---- requests and life signs of others -----------------------------------------------------

void Core::Parts::handle(Sender from, const Forward& m) {
  for (const Request& request : m.requests) {
    if (request.operation.size() > settings.operation_bytes || !auth.verify(request)) continue;
    pool.add(request, step.now(), from.index);
  }
  if (some_doubtful) doubt_again();
}

// It was cut off when its view ended, and may believe that it leads.
void Core::Parts::tell_of_view(Sender from, const Heartbeat& m) {
  if (m.view < members.view().id && members.own())
    step.send(from.id, Heartbeat{members.view().id, leadership.regency(), progress.decided()});
}

void Core::Parts::handle(Sender from, const Heartbeat& m) {
  const bool same_view = m.view == members.view().id || SMR_MUTANT("heartbeats_of_any_view");
  if (same_view && from.id == members.view().leader(m.regency) && m.regency == leadership.regency())
    leader_watch.heard();
  tell_of_view(from, m);
  peers.told(from.index, m.decided);
  if (m.decided > progress.decided() || m.view > members.view().id ||
      (same_view && m.regency > leadership.regency())) {
    timers.see_others_ahead();
  }
  check_far_behind();
}

}  // namespace piracema::smr
