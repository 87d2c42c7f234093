#include "base/text.h"
#include "smr/order/core/parts.h"

/// From votes to a decision, and what a decision brings with it.
namespace piracema::smr {

// ---- votes ---------------------------------------------------------------------------------

void Core::Parts::handle(Sender from, const Write& m) {
  Consensus* consensus = instance_at(m.instance);
  if (!members.byzantine() || !consensus) return;
  if (!consensus->writes.put(from.index, {m.regency, m.digest})) return;
  if (from.id == members.me() && m.regency == leadership.regency()) leadership.entry_is_durable();
  if (m.regency != leadership.regency()) return;
  consider(m.instance, *consensus);
  check_written(m.instance, *consensus);
}

void Core::Parts::check_written(Instance instance, Consensus& consensus) {
  if (!consensus.took_in(leadership.regency()) || consensus.accepted_in(leadership.regency()) ||
      !leadership.votes())
    return;
  const Vote vote = *consensus.taken;
  const std::size_t wanted = members.view().quorum() - (SMR_MUTANT("write_quorum_short") ? 1 : 0);
  if (consensus.writes.count(vote) < wanted) return;
  consensus.certify(vote);
  step.persist(ValueCertified{instance, vote.regency, vote.digest});
  step.send_all(message(Accept{instance, vote.regency, vote.digest}),
                !SMR_MUTANT("accept_before_log"));
}

void Core::Parts::handle(Sender from, const Accept& m) {
  Consensus* consensus = instance_at(m.instance);
  if (!consensus) return;
  const Vote vote{m.regency, m.digest};
  if (!consensus->accepts.put(from.index, vote)) return;
  if (from.id == members.me() && m.regency == leadership.regency()) leadership.entry_is_durable();
  check_accepted(m.instance, *consensus, vote);
}

// A quorum of ACCEPTs of one regency decides, whichever regency this replica is in by now.
void Core::Parts::check_accepted(Instance instance, Consensus& consensus, const Vote& vote) {
  const std::size_t wanted = members.view().quorum() - (SMR_MUTANT("accept_quorum_short") ? 1 : 0);
  if (consensus.accepts.count(vote) >= wanted) decide(instance, consensus, vote.digest);
}

// ---- decisions -----------------------------------------------------------------------------

void Core::Parts::decide(Instance instance, Consensus& consensus, const Digest& digest) {
  if (consensus.decided) {
    if (*consensus.decided != digest) step.halt(concat("two decisions at ", instance));
    return;
  }
  consensus.decided = digest;
  consensus.batch = consensus.find(digest);
  if (!consensus.batch && consensus.held && consensus.held->digest == digest) {
    consensus.keep(consensus.held, false);
  }
  if (!consensus.batch) step.send_others(message(FetchBatch{instance, digest}));
  advance();
}

void Core::Parts::advance() {
  while (!step.halted() && !loading) {
    Consensus* consensus = instances.find(progress.decided() + 1);
    if (!consensus || !consensus->ready()) break;
    // Lost with a crash it is found again with the others, so nobody waits for it.
    const bool logged = consensus->is_logged(consensus->batch->digest);
    step.persist(InstanceDecided{progress.decided() + 1, consensus->batch->digest,
                                 logged ? nullptr : consensus->batch});
    consensus->keep(consensus->batch, true);
    hand_out(consensus->batch);
  }
}

void Core::Parts::hand_out(BatchPtr batch) {
  progress.hand_out(batch->digest);
  pool.decided(batch->requests);
  clock.decided(step.now(), batch->time, leadership.leads());
  leader_watch.decided(batch->requests.size(), leadership.synced() && !catching_up);
  timers.restart(step.now());
  const std::size_t bytes = batch->encoded.size();
  decided_log.add(progress.decided(), batch);
  step.act(Execute{progress.decided(), batch});
  decide_view(*batch);
  if (checkpoints.due(progress.decided(), bytes)) {
    checkpoints.begin({progress.decided(), progress.history(), batch->time, members.view(),
                       views.next(), views.next_from()},
                      step.out());
    proofs.expect(progress.decided());
  }
  if (members.byzantine()) pass_milestone();
  pass_view();
  const Instance needed_above =
      members.byzantine() ? std::min(progress.decided(), proofs.proven()) : progress.decided();
  if (progress.decided() > kept_decided) {
    instances.drop_until(std::min(needed_above, progress.decided() - kept_decided));
  }
  reads.answer();
}

}  // namespace piracema::smr
