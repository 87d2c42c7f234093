#include "base/text.h"
#include "smr/order/batch.h"
#include "smr/order/core_parts.h"
#include "smr/order/digest.h"

/// From a proposal to a decision. Byzantine: PROPOSE, WRITE, ACCEPT. Crash: PROPOSE, ACCEPT.
namespace piracema::smr {

// ---- proposals -----------------------------------------------------------------------------

void Core::Parts::handle(Sender from, const Propose& m) {
  if (from.id != view.leader(m.regency) || m.regency < regency()) return;
  if (m.regency > regency()) others_ahead = true;
  if (m.regency == regency()) heard_leader = now;
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
  const bool has_room = !consensus->held || consensus->held_in < regency();
  if (!has_room && (m.regency != regency() || consensus->held_in == regency())) return;
  consensus->held = m.batch;
  consensus->held_in = m.regency;
  consensus->held_is_doubtful = false;
  consider(m.instance, *consensus);
}

void Core::Parts::consider(Instance instance, Consensus& consensus) {
  if (!consensus.held || consensus.held_in != regency() || !synced || !votes()) return;
  if (instance <= votes_above || consensus.took_in(regency())) return;
  if (byzantine() && instance > proof.instance + unproven_max) return;
  const Digest& digest = consensus.held->digest;
  const auto value = bound.find(instance);
  if (value != bound.end() && value->second != digest && !SMR_MUTANT("vote_over_bound")) {
    consensus.held = nullptr;
    return demand(concat("leader ", view.leader(regency()), " proposes at ", instance,
                         " what its SYNC rules out"));
  }
  if (consensus.decided && *consensus.decided != digest) return;
  // What a correct replica has written before, or decided, it has verified.
  if (byzantine() && value == bound.end() && !consensus.decided) {
    if (!consensus.held_is_doubtful) consensus.held_is_doubtful = !verified(*consensus.held);
    // A MAC convinces only whom it was made for. If one_correct() members wrote it, one of them is
    // correct and the client did ask for it: so half-good MACs split nobody.
    some_doubtful |= consensus.held_is_doubtful;
    if (consensus.held_is_doubtful &&
        consensus.writes.count({regency(), digest}) < view.one_correct()) {
      return;
    }
  }
  take(instance, consensus, consensus.held);
}

// A client may send the same request again with a better proof, and then this replica knows that
// the leader's was honest.
void Core::Parts::doubt_again() {
  some_doubtful = false;
  for (Instance i = decided + 1; i < instances.end() && !halted; ++i) {
    Consensus* one = instances.find(i);
    if (!one || !one->held || !one->held_is_doubtful) continue;
    one->held_is_doubtful = false;
    consider(i, *one);
  }
}

bool Core::Parts::verified(const Batch& batch) const {
  if (SMR_MUTANT("trust_the_leader")) return true;
  return std::all_of(batch.requests.begin(), batch.requests.end(), [this](const Request& request) {
    return auth.verify(request) || pool.holds(request);
  });
}

// What is persisted here goes before the vote: a replica that comes back votes for nothing else.
void Core::Parts::take(Instance instance, Consensus& consensus, BatchPtr batch) {
  const Vote vote{regency(), batch->digest};
  if (consensus.is_logged(vote.digest)) {
    persist(ProposalRepeated{instance, vote.regency, vote.digest});
  } else {
    persist(ProposalTaken{instance, vote.regency, batch});
  }
  consensus.take(vote.regency, std::move(batch));
  if (SMR_MUTANT("decided_before_proposed")) return;
  if (instance == decided + 1 && consensus.ready()) advance();
  if (byzantine()) {
    send_all(message(Write{instance, vote.regency, vote.digest}), true);
    check_written(instance, consensus);
  } else {
    consensus.certify(vote);
    send_all(message(Accept{instance, vote.regency, vote.digest}),
             !SMR_MUTANT("accept_before_log"));
  }
  // It may have been decided before its proposal came.
  advance();
}

// ---- votes ---------------------------------------------------------------------------------

void Core::Parts::handle(Sender from, const Write& m) {
  Consensus* consensus = instance_at(m.instance);
  if (!byzantine() || !consensus) return;
  if (!consensus->writes.put(from.index, {m.regency, m.digest})) return;
  if (from.id == me && m.regency == regency()) entry_durable = true;
  if (m.regency != regency()) return;
  consider(m.instance, *consensus);
  check_written(m.instance, *consensus);
}

void Core::Parts::check_written(Instance instance, Consensus& consensus) {
  if (!consensus.took_in(regency()) || consensus.accepted_in(regency()) || !votes()) return;
  const Vote vote = *consensus.taken;
  const std::size_t wanted = view.quorum() - (SMR_MUTANT("write_quorum_short") ? 1 : 0);
  if (consensus.writes.count(vote) < wanted) return;
  consensus.certify(vote);
  persist(ValueCertified{instance, vote.regency, vote.digest});
  send_all(message(Accept{instance, vote.regency, vote.digest}), !SMR_MUTANT("accept_before_log"));
}

void Core::Parts::handle(Sender from, const Accept& m) {
  Consensus* consensus = instance_at(m.instance);
  if (!consensus) return;
  const Vote vote{m.regency, m.digest};
  if (!consensus->accepts.put(from.index, vote)) return;
  if (from.id == me && m.regency == regency()) entry_durable = true;
  check_accepted(m.instance, *consensus, vote);
}

// A quorum of ACCEPTs of one regency decides, whichever regency this replica is in by now.
void Core::Parts::check_accepted(Instance instance, Consensus& consensus, const Vote& vote) {
  const std::size_t wanted = view.quorum() - (SMR_MUTANT("accept_quorum_short") ? 1 : 0);
  if (consensus.accepts.count(vote) >= wanted) decide(instance, consensus, vote.digest);
}

// ---- decisions -----------------------------------------------------------------------------

void Core::Parts::decide(Instance instance, Consensus& consensus, const Digest& digest) {
  if (consensus.decided) {
    if (*consensus.decided != digest) halt(concat("two decisions at ", instance));
    return;
  }
  consensus.decided = digest;
  consensus.batch = consensus.find(digest);
  if (!consensus.batch && consensus.held && consensus.held->digest == digest) {
    consensus.keep(consensus.held, false);
  }
  if (!consensus.batch) send_others(message(FetchBatch{instance, digest}));
  advance();
}

void Core::Parts::advance() {
  while (!halted && !loading) {
    Consensus* consensus = instances.find(decided + 1);
    if (!consensus || !consensus->ready()) break;
    // Lost with a crash it is found again with the others, so nobody waits for it.
    const bool logged = consensus->is_logged(consensus->batch->digest);
    persist(InstanceDecided{decided + 1, consensus->batch->digest,
                            logged ? nullptr : consensus->batch});
    consensus->keep(consensus->batch, true);
    hand_out(consensus->batch);
  }
}

void Core::Parts::hand_out(BatchPtr batch) {
  decided += 1;
  history = digest_of(history, batch->digest);
  pool.decided(batch->requests);
  follow_clock(batch->time);
  failures = 0;
  progress_at = now;
  say_again_every = settings.resend_interval;
  say_again_at = now + say_again_every;
  say_again_count = 0;
  const std::size_t bytes = batch->encoded.size();
  decided_log.add(decided, batch);
  act(Execute{decided, batch});
  decide_view(*batch);
  if (checkpoints.due(decided, bytes)) {
    checkpoints.begin({decided, history, batch->time, view, views.next(), views.next_from()}, *out);
  }
  if (byzantine()) pass_milestone();
  pass_view();
  const Instance needed_above = byzantine() ? std::min(decided, proof.instance) : decided;
  if (decided > kept_decided) {
    instances.drop_until(std::min(needed_above, decided - kept_decided));
  }
  answer_reads();
}

// ---- requests and life signs of others -----------------------------------------------------

void Core::Parts::handle(Sender from, const Forward& m) {
  for (const Request& request : m.requests) {
    if (request.operation.size() > settings.operation_bytes || !auth.verify(request)) continue;
    pool.add(request, now, from.index);
  }
  if (some_doubtful) doubt_again();
}

void Core::Parts::handle(Sender from, const Heartbeat& m) {
  if (from.id == view.leader(m.regency) && m.regency == regency()) heard_leader = now;
  decided_by[from.index] = std::max(decided_by[from.index], m.decided);
  if (m.decided > decided || m.regency > regency()) others_ahead = true;
  check_far_behind();
}

}  // namespace piracema::smr
