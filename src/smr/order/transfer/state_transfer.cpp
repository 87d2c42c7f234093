#include "smr/order/transfer/state_transfer.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "smr/order/messages/proofs.h"

namespace piracema::smr {

StateTransfer::StateTransfer(ReplicaId me, const Authenticator& auth, std::uint64_t nonce,
                             std::optional<PartialCheckpoint> partial, Time resend_interval)
    : me_(me),
      auth_(auth),
      nonce_(nonce),
      partial_(std::move(partial)),
      resend_interval_(resend_interval),
      pace_(resend_interval) {}

void StateTransfer::start(Time now, const Position& at, Instance silent_until,
                          std::vector<Action>& out) {
  phase_ = Phase::asking;
  silent_until_ = silent_until;
  forget_fetch();
  offers_.clear();
  const std::int64_t rounds = std::int64_t{1} << std::min(rounds_++, 6u);
  answers_by_ = now + 2 * resend_interval_ * rounds;
  const MessagePtr request = message(StateRequest{nonce_, at.decided, silent_until});
  for (const ReplicaId other : at.views.to_ask()) out.emplace_back(Send{other, request, false});
}

Instance StateTransfer::reachable(const StateOffer& offer, const Position& at) const {
  return at.views.view().model == FaultModel::crash ? offer.decided : offer.proof.instance;
}

bool StateTransfer::on_offer(Time now, ReplicaId from, const StateOffer& offer, const Position& at,
                             std::vector<Action>& out) {
  if (offer.nonce != nonce_ || from == me_) return false;
  const bool may_be_source = is_fetching() && !has_source(from);
  if (phase_ != Phase::asking && !may_be_source) return true;
  StateOffer kept = offer;
  // Whatever cannot be believed is as good as nothing.
  if (kept.checkpoint &&
      (!at.views.trusts(kept.checkpoint->checkpoint.view) || !proven(*kept.checkpoint, auth_))) {
    kept.checkpoint.reset();
  }
  if (kept.proof.instance > at.decided && !at.views.proves(kept.proof)) {
    kept.proof = DecisionProof{};
  }
  if (may_be_source) {
    take_more(now, from, std::move(kept), at, out);
    return true;
  }
  offers_.insert_or_assign(from, std::move(kept));
  if (offers_.size() >= at.views.others().size()) {
    choose(now, at, out);
  } else if (offers_.size() >= at.views.view().one_correct()) {
    // Some may be down, and the wait for them may have grown long while nobody could be reached.
    answers_by_ = std::min(*answers_by_, now + 2 * resend_interval_);
  }
  return true;
}

bool StateTransfer::has_log(ReplicaId from, const StateOffer& offer, const Position& at) const {
  return reachable(offer, at) > at.decided && offer.log_from <= at.decided + 1 &&
         without_log_.count(from) == 0;
}

bool StateTransfer::has_source(ReplicaId id) const {
  return phase_ == Phase::log ? log_->has_source(id) : checkpoint_->has_source(id);
}

bool StateTransfer::has_hope() const {
  return phase_ == Phase::log ? log_->has_hope() : checkpoint_->has_hope();
}

// While something is fetched. What nobody can be reached for any more is given up for another thing
// that somebody has. Not at once: a single answer may have been lost, and the next one is under
// way; a newer checkpoint for what is left of the log, or of a checkpoint, is much to fetch again.
void StateTransfer::take_more(Time now, ReplicaId from, StateOffer offer, const Position& at,
                              std::vector<Action>& out) {
  const bool log = has_log(from, offer, at);
  const Instance newest = offer.checkpoint ? offer.checkpoint->checkpoint.instance : 0;
  if (!log && newest <= at.decided) return;
  offers_.insert_or_assign(from, std::move(offer));
  if (phase_ == Phase::log && log) return log_->add_source(now, from, at, out);
  if (phase_ == Phase::checkpoint && newest == checkpoint_->proof().checkpoint.instance) {
    return checkpoint_->add_source(now, from, out);
  }
  if (has_hope()) return;
  if (!change_at_) change_at_ = now + 2 * resend_interval_;
}

bool StateTransfer::change_if_due(Time now, const Position& at, std::vector<Action>& out) {
  if (!change_at_ || now < *change_at_) return false;
  change_at_.reset();
  if (has_hope()) return false;
  std::erase_if(offers_, [this](const auto& one) { return has_source(one.first); });
  forget_fetch();
  choose(now, at, out);
  return true;
}

void StateTransfer::forget_fetch() {
  if (checkpoint_) partial_ = checkpoint_->partial();
  checkpoint_.reset();
  log_.reset();
  change_at_.reset();
}

// Those who had nothing to offer may have it by now, or their offers were late.
void StateTransfer::ask_for_more_sources(const Position& at, std::vector<Action>& out) const {
  const MessagePtr request = message(StateRequest{nonce_, at.decided, silent_until_});
  for (const ReplicaId other : at.views.to_ask()) {
    if (!has_source(other)) out.emplace_back(Send{other, request, false});
  }
}

// Batches rather than a checkpoint: it is less, and the service need not be stopped for it.
void StateTransfer::choose(Time now, const Position& at, std::vector<Action>& out) {
  answers_by_.reset();
  const CheckpointProof* best = nullptr;
  std::vector<ReplicaId> have_log;
  for (const auto& [from, offer] : offers_) {
    if (has_log(from, offer, at)) have_log.push_back(from);
    if (offer.checkpoint && offer.checkpoint->checkpoint.instance > at.decided &&
        (best == nullptr || offer.checkpoint->checkpoint.instance > best->checkpoint.instance)) {
      best = &*offer.checkpoint;
    }
  }
  if (!have_log.empty()) {
    phase_ = Phase::log;
    log_began_ = at.decided;
    log_.emplace(Sources(have_log), pace_);
    log_->begin(now, at, out);
  } else if (best != nullptr) {
    fetch_checkpoint(now, *best, at, out);
  } else if (!std::exchange(without_log_, {}).empty()) {
    start(now, at, silent_until_, out);
  } else {
    phase_ = Phase::idle;
    if (!offers_.empty()) rounds_ = 0;
  }
}

void StateTransfer::give_up_log(Time now, const Position& at, std::vector<Action>& out) {
  if (at.decided == log_began_) {
    for (const auto& [from, offer] : offers_) {
      if (offer.log_from <= at.decided + 1) without_log_.insert(from);
    }
  }
  start(now, at, silent_until_, out);
}

std::vector<BatchPtr> StateTransfer::on_suffix(Time now, ReplicaId from, const LogSuffix& suffix,
                                               const Position& at, std::vector<Action>& out) {
  if (phase_ != Phase::log) return {};
  return log_->on_suffix(now, from, suffix, at, out);
}

void StateTransfer::keep(Instance from, std::vector<BatchPtr> batches) {
  if (phase_ == Phase::log) log_->keep(from, std::move(batches));
}

std::vector<BatchPtr> StateTransfer::take_kept(const Position& at) {
  if (!has_kept()) return {};
  return log_->take_kept(at);
}

void StateTransfer::went_on(Time now, const Position& at, std::vector<Action>& out) {
  if (phase_ == Phase::asking && answers_by_ && *answers_by_ <= now) {
    return start(now, at, silent_until_, out);
  }
  if (phase_ != Phase::log || log_->has_kept()) return;
  Instance target = 0;
  for (const auto& [from, offer] : offers_) target = std::max(target, reachable(offer, at));
  if (at.decided >= target) {
    rounds_ = 0;
    without_log_.clear();
    // As long as that was much, the others have gone on by much. What is left then is said again.
    if (at.decided > log_began_ + milestone_interval) return start(now, at, silent_until_, out);
    phase_ = Phase::idle;
    return;
  }
  if (log_->hopeless()) return give_up_log(now, at, out);
  log_->go_on(now, at, out);
}

void StateTransfer::on_gone(Time now, ReplicaId from, const Gone& gone, const Position& at,
                            std::vector<Action>& out) {
  if (phase_ == Phase::checkpoint && gone.instance == checkpoint_->proof().checkpoint.instance) {
    checkpoint_->on_gone(now, from, out);
    if (!checkpoint_->hopeless()) return;
    rounds_ = 0;
    start(now, at, silent_until_, out);
  } else if (phase_ == Phase::log && gone.instance == at.decided + 1) {
    log_->on_gone(now, from, at, out);
    if (!log_->hopeless()) return;
    rounds_ = 0;
    give_up_log(now, at, out);
  }
}

// ---- by a checkpoint, where nobody has the batches any more

void StateTransfer::fetch_checkpoint(Time now, const CheckpointProof& proof, const Position& at,
                                     std::vector<Action>& out) {
  std::vector<ReplicaId> have;
  for (const auto& [from, offer] : offers_) {
    if (offer.checkpoint && offer.checkpoint->checkpoint.instance == proof.checkpoint.instance) {
      have.push_back(from);
    }
  }
  out.emplace_back(
      Note{false, concat("fetching the checkpoint at ", proof.checkpoint.instance, " (",
                         proof.checkpoint.bytes, " bytes): this replica is at ", at.decided)});
  phase_ = Phase::checkpoint;
  checkpoint_.emplace(proof, Sources(have), partial_, pace_);
  checkpoint_->begin(now, out);
}

void StateTransfer::on_manifest(Time now, ReplicaId from, const Manifest& manifest,
                                std::vector<Action>& out) {
  if (phase_ != Phase::checkpoint) return;
  checkpoint_->on_manifest(now, from, manifest, out);
  load_if_complete(out);
}

void StateTransfer::on_chunk(Time now, ReplicaId from, const Chunk& chunk,
                             std::vector<Action>& out) {
  if (phase_ != Phase::checkpoint) return;
  checkpoint_->on_chunk(now, from, chunk, out);
  load_if_complete(out);
}

StateTransfer::Fetched StateTransfer::fetched() const {
  if (!checkpoint_) return {};
  return {checkpoint_->here(), checkpoint_->proof().checkpoint.chunk_count};
}

void StateTransfer::load_if_complete(std::vector<Action>& out) {
  if (!checkpoint_->complete()) return;
  phase_ = Phase::loading;
  out.emplace_back(LoadCheckpoint{checkpoint_->proof().checkpoint});
}

std::optional<StateTransfer::Loaded> StateTransfer::on_loaded(const CheckpointLoaded& loaded,
                                                              std::vector<Action>& out) {
  if (phase_ != Phase::loading || loaded.instance != checkpoint_->proof().checkpoint.instance) {
    return std::nullopt;
  }
  phase_ = Phase::asking;
  answers_by_ = Time{};  // Ask again with the next tick.
  partial_.reset();
  if (!loaded.why.empty()) {
    out.emplace_back(
        Note{true, concat("the checkpoint at ", loaded.instance, " cannot be used: ", loaded.why)});
    checkpoint_.reset();
    return std::nullopt;
  }
  rounds_ = 0;
  Loaded result{checkpoint_->proof(), checkpoint_->chunks()};
  checkpoint_.reset();
  return result;
}

// ---- time

void StateTransfer::hurry(Time now) {
  if (phase_ != Phase::asking || !offers_.empty() || !answers_by_) return;
  rounds_ = 0;
  answers_by_ = std::min(*answers_by_, now + 2 * resend_interval_);
}

void StateTransfer::heard(Time now, ReplicaId from) {
  hurry(now);
  if (log_) log_->heard(now, from);
  if (checkpoint_) checkpoint_->heard(now, from);
}

void StateTransfer::tick(Time now, const Position& at, std::vector<Action>& out) {
  switch (phase_) {
    case Phase::idle:
    case Phase::loading:
      return;
    case Phase::asking:
      if (!answers_by_ || now < *answers_by_) return;
      if (offers_.empty()) return start(now, at, silent_until_, out);
      return choose(now, at, out);
    case Phase::checkpoint:
      if (change_if_due(now, at, out)) return;
      if (checkpoint_->tick(now, out)) ask_for_more_sources(at, out);
      // The others have a newer one, perhaps, or this replica has come there by itself.
      if (checkpoint_->hopeless() || checkpoint_->proof().checkpoint.instance <= at.decided) {
        start(now, at, silent_until_, out);
      }
      return;
    case Phase::log:
      if (log_->has_kept() || change_if_due(now, at, out)) return;
      if (log_->tick(now, at, out)) ask_for_more_sources(at, out);
      if (log_->hopeless()) give_up_log(now, at, out);
      return;
  }
}

std::optional<Time> StateTransfer::next_deadline() const {
  switch (phase_) {
    case Phase::idle:
    case Phase::loading:
      return std::nullopt;
    case Phase::asking:
      return answers_by_;
    case Phase::checkpoint: {
      const Time next = checkpoint_->next_deadline().value_or(Time{});
      return std::min(next, change_at_.value_or(next));
    }
    case Phase::log: {
      if (log_->has_kept()) return std::nullopt;
      const Time next = log_->next_deadline().value_or(Time{});
      return std::min(next, change_at_.value_or(next));
    }
  }
  return std::nullopt;
}

}  // namespace piracema::smr
