#include "smr/order/transfer/log_fetch.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "smr/order/agreement/decided_log.h"
#include "smr/order/messages/digest.h"

namespace piracema::smr {

namespace {

constexpr std::uint32_t short_bytes = 4 << 10;

}  // namespace

void LogFetch::forget_known(Instance decided) {
  while (!known_.empty() && known_from_ <= decided) {
    known_.pop_front();
    known_from_ += 1;
  }
  if (known_.empty()) known_from_ = decided + 1;
}

LogRequest LogFetch::wanted(const Position& at) const {
  const bool liars = at.views.view().model == FaultModel::byzantine;
  const std::size_t bytes = std::min(pace_.bytes(), suffix_bytes_max);
  return {at.decided + 1, liars && known_.empty(), static_cast<std::uint32_t>(bytes)};
}

void LogFetch::ask(Time now, const Position& at, std::vector<Action>& out) {
  forget_known(at.decided);
  if (sources_.empty()) return;
  by_ = now + pace_.patience(fruitless_);
  const LogRequest next = wanted(at);
  const ReplicaId whom = sources_.next();
  if (asked_ && asked_->from == next.from && asked_->digests_only == next.digests_only) {
    question_.again(now, whom);
  } else {
    question_ = Question::asked(now, whom);
  }
  asked_ = next;
  out.emplace_back(Send{whom, message(*asked_), false});
}

void LogFetch::keep(Instance from, std::vector<BatchPtr> batches) {
  kept_from_ = from;
  kept_ = std::move(batches);
}

std::vector<BatchPtr> LogFetch::take_kept(const Position& at) {
  std::vector<BatchPtr> taken = std::exchange(kept_, {});
  const Instance past = at.decided + 1 - std::min(kept_from_, at.decided + 1);
  const auto count = static_cast<std::ptrdiff_t>(std::min<Instance>(past, taken.size()));
  taken.erase(taken.begin(), taken.begin() + count);
  return taken;
}

void LogFetch::go_on(Time now, const Position& at, std::vector<Action>& out) {
  if (has_kept()) return;
  forget_known(at.decided);
  const LogRequest next = wanted(at);
  const bool same =
      asked_ && asked_->from == next.from && asked_->digests_only == next.digests_only;
  if (!same) ask(now, at, out);
}

void LogFetch::distrust(ReplicaId who, std::vector<Action>& out) {
  sources_.drop(who);
  asked_.reset();
  out.emplace_back(Note{
      true, concat("replica ", who, " sent batches that were not decided: it is not asked again")});
}

// Folds the digests into this replica's own history: only the decided ones end where a correct
// member has ended.
bool LogFetch::learn_digests(const LogSuffix& suffix, const Position& at) {
  const DecisionProof& proof = suffix.proof;
  if (proof.instance <= at.decided) return true;  // Nothing that is proven is new.
  const Instance count = proof.instance - at.decided;
  if (count > suffix.digests.size()) return true;  // It is itself not as far as its proof.
  Digest history = at.history;
  for (Instance i = 0; i < count; ++i) history = digest_of(history, suffix.digests[i]);
  if (history != proof.history || !at.views.proves(proof)) return false;
  known_from_ = at.decided + 1;
  known_.assign(suffix.digests.begin(),
                suffix.digests.begin() + static_cast<std::ptrdiff_t>(count));
  return true;
}

std::vector<BatchPtr> LogFetch::on_suffix(Time now, ReplicaId from, const LogSuffix& suffix,
                                          const Position& at, std::vector<Action>& out) {
  std::vector<BatchPtr> learned;
  if (!sources_.has(from) || suffix.from != at.decided + 1) return learned;
  if (asked_ && asked_->from == suffix.from) {
    // It would have been more, if more had fitted.
    std::size_t bytes = 0;
    for (const BatchPtr& batch : suffix.batches) bytes += batch->encoded.size();
    pace_.answered(question_.took(now, from), 2 * bytes >= asked_->bytes);
  }
  forget_known(at.decided);
  const bool liars = at.views.view().model == FaultModel::byzantine;
  if (liars && known_.empty()) {
    if (!learn_digests(suffix, at)) distrust(from, out);
    fruitless_ = known_.empty() ? fruitless_ + 1 : 0;
    return learned;
  }
  for (const BatchPtr& batch : suffix.batches) {
    if (liars && learned.size() == known_.size()) break;
    if (liars && batch->digest != known_[learned.size()]) {
      distrust(from, out);
      break;
    }
    learned.push_back(batch);
  }
  fruitless_ = learned.empty() ? fruitless_ + 1 : 0;
  return learned;
}

void LogFetch::on_gone(Time now, ReplicaId from, const Position& at, std::vector<Action>& out) {
  if (!sources_.has(from)) return;
  sources_.drop(from);
  if (!has_kept()) ask(now, at, out);
}

// One source alone must not be all that a replica knows: it may be cut off by now, and while others
// have come to have what it offered, patience with it would double and double.
void LogFetch::add_source(Time now, ReplicaId id, const Position& at, std::vector<Action>& out) {
  const bool in_vain = !sources_.has_hope();
  sources_.add(id);
  if (in_vain && !has_kept()) ask(now, at, out);
}

bool LogFetch::tick(Time now, const Position& at, std::vector<Action>& out) {
  const auto due = next_deadline();
  if (!due || now < *due) return false;
  const bool in_vain = now >= *by_;
  if (in_vain) fruitless_ += 1;
  sources_.leave(question_.whom);
  if (in_vain || sources_.has_hope()) {
    ask(now, at, out);
  } else if (asked_) {
    // Its answer may have been lost, and it is there: a short one tells, also on a slow way.
    LogRequest short_one = *asked_;
    short_one.bytes = std::min(short_one.bytes, short_bytes);
    out.emplace_back(Send{question_.whom, message(short_one), false});
  }
  return true;
}

std::optional<Time> LogFetch::next_deadline() const {
  if (!by_) return std::nullopt;
  return std::min(*by_, sources_.quiet_at(question_.whom, question_.last).value_or(*by_));
}

}  // namespace piracema::smr
