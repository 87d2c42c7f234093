#include "base/text.h"
#include "smr/order/core/parts.h"
#include "smr/order/messages/digest.h"

/// From the log of a former life: the votes that were given stay given.
namespace piracema::smr {

CoreData::CoreData(Settings s, ReplicaId me, const Authenticator& authenticator, Recovered found)
    : settings(s),
      auth(authenticator),
      members(me, found.view),
      step(members),
      recovered(std::move(found)),
      life(recovered.amnesia && !SMR_MUTANT("votes_without_memory")),
      leadership(members, life),
      patience(s),
      reads(step, members, leadership, progress, patience, s.resend_interval),
      clock(members.view().model, s.clock_credit),
      checkpoints(me, members.view().model, authenticator, s.checkpoint_interval,
                  s.resend_interval),
      views(me, authenticator, members.view(), s.resend_interval),
      transfer(me, authenticator, recovered.nonce, std::move(recovered.partial), s.resend_interval),
      pool(s),
      proofs(step, members, progress, views, authenticator),
      proposer(s, step, members, leadership, progress, instances, clock, pool),
      leader_change(s.resend_interval, step, members, leadership, life, patience, reads, proposer,
                    progress, instances, proofs, pool, authenticator),
      leader_watch(s, step, members, leadership, patience, progress, proposer, pool, leader_change),
      peers(members.view().n()),
      timers(s.resend_interval, members.view().n()) {
  views.may_be_added(recovered.added);
}

void Core::Parts::recover() {
  Recovered found = std::exchange(recovered, {});
  if (found.checkpoint) jump_to(*found.checkpoint);
  // A log with anything in it may have been that of a leader.
  if (!found.log.empty() || found.checkpoint || !life.remembered()) life.was_in(0);
  recovered.checkpoint = std::move(found.checkpoint);
  recovered.chunks = std::move(found.chunks);
  step.set_replaying(true);
  // A proof is true wherever it lies in the log, and where the log was truncated it was written
  // again behind younger records. It is needed first: without it a view that is over is not left,
  // and the votes of the next one would be taken for those of the old one.
  for (LogRecord& record : found.log) {
    if (auto* kept = std::get_if<ProofKept>(&record)) replay(*kept);
  }
  for (LogRecord& record : found.log) {
    std::visit([this](auto& one) { replay(one); }, record);
  }
  advance();
  step.set_replaying(false);
  recovered = {};
  doubt_memory();
}

// A replica votes no further than this above what it has written down as decided, or has as a
// checkpoint.
bool Core::Parts::replayable(Instance instance) {
  if (instance > progress.decided() + view_delay) life.builds_on(instance);
  return instance >= instances.first() && instance <= progress.decided() + view_delay;
}

// The log is whole, but what it goes on from is not: the checkpoint that it calls stable cannot be
// read. Votes far above what is left, and the regencies of later views, have no place to be
// remembered at, so they count as forgotten.
void Core::Parts::doubt_memory() {
  const auto builds_on = life.doubt(progress.decided());
  if (!builds_on) return;
  step.note(concat("its log builds on what is lost: it has voted at ", *builds_on, " and knows of ",
                   progress.decided(), " decisions; it is silent until it has caught up"),
            true);
}

void Core::Parts::replay(ProposalTaken& record) {
  if (!replayable(record.instance)) return;
  Consensus& one = instances.at(record.instance, members.view().n());
  const Vote vote{record.regency, record.batch->digest};
  one.take(record.regency, std::move(record.batch));
  if (!members.byzantine()) one.certify(vote);
  if (one.decided) one.batch = one.find(*one.decided);
}

void Core::Parts::replay(ProposalRepeated& record) {
  Consensus* one = instances.find(record.instance);
  BatchPtr batch = one ? one->find(record.digest) : nullptr;
  if (!batch) return;
  one->take(record.regency, std::move(batch));
  if (!members.byzantine()) one->certify({record.regency, record.digest});
}

void Core::Parts::replay(ValueCertified& record) {
  if (Consensus* one = instances.find(record.instance)) {
    one->certify({record.regency, record.digest});
  }
}

void Core::Parts::replay(RegencyEntered& record) {
  if (record.view != members.view().id || record.regency < leadership.regency()) return;
  leadership.recover_entered(record.regency);
  life.was_in(record.regency);
}

void Core::Parts::replay(InstanceDecided& record) {
  if (!replayable(record.instance)) return;
  Consensus& one = instances.at(record.instance, members.view().n());
  one.decided = record.digest;
  if (record.batch) one.keep(std::move(record.batch), true);
  one.batch = one.find(record.digest);
  advance();
}

void Core::Parts::replay(ProofKept& record) {
  if (record.proof.instance <= proofs.proven()) return;
  proofs.keep(std::move(record.proof));
  pass_view();
}

void Core::Parts::replay(ViewScheduled& record) { views.recover(record); }
void Core::Parts::replay(ViewSigned& record) { views.recover(record); }

void Core::Parts::replay(CheckpointStable& record) {
  const auto& used = recovered.checkpoint;
  life.builds_on(record.proof.checkpoint.instance);
  if (!used || record.proof.checkpoint.instance != used->instance) return;
  checkpoints.adopt(std::move(record.proof), std::move(recovered.chunks));
}

void Core::Parts::replay(StopSaid& record) {
  if (record.view != members.view().id) return;
  leadership.recover_stop(record.regency);
}

void Core::Parts::replay(MemoryRegained& record) {
  life.remember(record.instance);
  // It may have entered that regency in its former life, so it votes in no older one. That it has
  // entered it now may have been lost with a crash that kept this record.
  RegencyEntered entered{record.regency, record.view};
  replay(entered);
}

}  // namespace piracema::smr
