#include "smr/order/core/log_replay.h"

#include <utility>

#include "base/text.h"

namespace piracema::smr {

LogReplay::LogReplay(Step& step, const Membership& members, FormerLife& life,
                     Leadership& leadership, const Progress& progress, Instances& instances,
                     DecisionProofs& proofs, Checkpoints& checkpoints, Reconfiguration& views,
                     Ordering& ordering)
    : step_(step),
      members_(members),
      life_(life),
      leadership_(leadership),
      progress_(progress),
      instances_(instances),
      proofs_(proofs),
      checkpoints_(checkpoints),
      views_(views),
      ordering_(ordering) {}

void LogReplay::recover(Recovered found) {
  checkpoint_ = std::move(found.checkpoint);
  chunks_ = std::move(found.chunks);
  if (checkpoint_) ordering_.jump_to(*checkpoint_);
  // A log with anything in it may have been that of a leader.
  if (!found.log.empty() || checkpoint_ || !life_.remembered()) life_.was_in(0);
  step_.set_replaying(true);
  // A proof is true wherever it lies in the log, and where the log was truncated it was written
  // again behind younger records. It is needed first: without it a view that is over is not left,
  // and the votes of the next one would be taken for those of the old one.
  for (LogRecord& record : found.log) {
    if (auto* kept = std::get_if<ProofKept>(&record)) replay(*kept);
  }
  for (LogRecord& record : found.log) {
    std::visit([this](auto& one) { replay(one); }, record);
  }
  ordering_.advance();
  step_.set_replaying(false);
  doubt_memory();
}

// A replica votes no further than this above what it has written down as decided, or has as a
// checkpoint.
bool LogReplay::is_replayable(Instance instance) {
  const Instance highest = progress_.decided() + view_delay;
  if (instance > highest) life_.builds_on(instance);
  return instance >= instances_.first() && instance <= highest;
}

// The log is whole, but what it goes on from is not: the checkpoint that it calls stable cannot be
// read. Votes far above what is left, and the regencies of later views, have no place to be
// remembered at, so they count as forgotten.
void LogReplay::doubt_memory() {
  const auto builds_on = life_.doubt(progress_.decided());
  if (!builds_on) return;
  step_.note(
      concat("its log builds on what is lost: it has voted at ", *builds_on, " and knows of ",
             progress_.decided(), " decisions; it is silent until it has caught up"),
      true);
}

// ---- votes ---------------------------------------------------------------------------------

void LogReplay::replay(ProposalTaken& record) {
  if (!is_replayable(record.instance)) return;
  Consensus& one = instances_.at(record.instance, members_.view().n());
  const Vote vote{record.regency, record.batch->digest};
  one.take(record.regency, std::move(record.batch));
  if (!members_.byzantine()) one.certify(vote);
  if (one.decided) one.batch = one.find(*one.decided);
}

void LogReplay::replay(ProposalRepeated& record) {
  Consensus* one = instances_.find(record.instance);
  BatchPtr batch = one ? one->find(record.digest) : nullptr;
  if (!batch) return;
  one->take(record.regency, std::move(batch));
  if (!members_.byzantine()) one->certify({record.regency, record.digest});
}

void LogReplay::replay(ValueCertified& record) {
  if (Consensus* one = instances_.find(record.instance)) {
    one->certify({record.regency, record.digest});
  }
}

void LogReplay::replay(InstanceDecided& record) {
  if (!is_replayable(record.instance)) return;
  Consensus& one = instances_.at(record.instance, members_.view().n());
  one.decided = record.digest;
  if (record.batch) one.keep(std::move(record.batch), true);
  one.batch = one.find(record.digest);
  ordering_.advance();
}

// ---- regencies -----------------------------------------------------------------------------

void LogReplay::replay(RegencyEntered& record) {
  if (record.view != members_.view().id || record.regency < leadership_.regency()) return;
  leadership_.recover_entered(record.regency);
  life_.was_in(record.regency);
}

void LogReplay::replay(StopSaid& record) {
  if (record.view == members_.view().id) leadership_.recover_stop(record.regency);
}

void LogReplay::replay(MemoryRegained& record) {
  life_.remember(record.instance);
  // It may have entered that regency in its former life, so it votes in no older one. That it has
  // entered it now may have been lost with a crash that kept this record.
  RegencyEntered entered{record.regency, record.view};
  replay(entered);
}

// ---- proofs, views and checkpoints ---------------------------------------------------------

void LogReplay::replay(ProofKept& record) {
  if (record.proof.instance <= proofs_.proven()) return;
  proofs_.keep(std::move(record.proof));
  ordering_.pass_view();
}

void LogReplay::replay(ViewScheduled& record) { views_.recover(record); }
void LogReplay::replay(ViewSigned& record) { views_.recover(record); }

void LogReplay::replay(CheckpointStable& record) {
  const Instance stable = record.proof.checkpoint.instance;
  life_.builds_on(stable);
  if (!checkpoint_ || stable != checkpoint_->instance) return;
  checkpoints_.adopt(std::move(record.proof), std::move(chunks_));
}

}  // namespace piracema::smr
