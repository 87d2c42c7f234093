#include "smr/order/transfer/checkpoints.h"

#include <algorithm>
#include <limits>

#include "base/ensure.h"
#include "base/text.h"
#include "smr/order/messages/settings.h"
#include "smr/order/messages/statements.h"

namespace piracema::smr {

Checkpoints::Checkpoints(ReplicaId me, FaultModel model, const Authenticator& auth,
                         Instance interval, Time resend_interval)
    : me_(me), model_(model), auth_(auth), interval_(interval), resend_interval_(resend_interval) {}

bool Checkpoints::due(Instance instance, std::size_t batch_bytes) {
  bytes_since_ += batch_bytes;
  bytes_in_all_ += batch_bytes;
  if (instance < last_due_ + interval_ && bytes_since_ < checkpoint_bytes) return false;
  last_due_ = instance;
  bytes_due_ = std::exchange(bytes_since_, 0);
  if (is_waited_for(instance)) unstable_.push_back(instance);
  return true;
}

void Checkpoints::restart_after(Instance instance) {
  last_due_ = instance;
  bytes_since_ = 0;
  unstable_.clear();
}

// Others may be as far above that place as they may be above their own: so it is not waited for
// here, or this replica could not follow them.
bool Checkpoints::is_waited_for(Instance instance) const { return instance > elsewhere_; }

void Checkpoints::stable_elsewhere(Instance instance) {
  elsewhere_ = std::max(elsewhere_, instance);
  while (!unstable_.empty() && !is_waited_for(unstable_.front())) unstable_.pop_front();
}

Instance Checkpoints::horizon() const {
  if (unstable_.size() < unstable_checkpoints_max) {
    return std::numeric_limits<Instance>::max();
  }
  return unstable_[unstable_checkpoints_max - 1] + view_delay;
}

void Checkpoints::begin(Place place, std::vector<Action>& out) {
  const Instance instance = place.instance;
  // The newest of a quorum is taken: they may still have a vote for it.
  const bool wanted = instance >= elsewhere_;
  if (wanted) begun_.emplace(instance, std::move(place));
  out.emplace_back(TakeCheckpoint{instance, bytes_due_, wanted});
}

void Checkpoints::skipped(Instance instance) {
  begun_.erase(instance);
  std::erase(unstable_, instance);
}

void Checkpoints::taken(Time now, const CheckpointInfo& info, std::vector<Digest> chunks,
                        std::vector<Action>& out) {
  const auto found = begun_.find(info.instance);
  if (found == begun_.end()) return;  // A transfer has overtaken it.
  Place& place = found->second;
  now_ = now;
  Own own{info, std::move(chunks), {}, bytes_in_all_};
  own.info.history = place.history;
  own.info.time = place.time;
  own.info.view = std::move(place.view);
  own.info.next_view = std::move(place.next_view);
  own.info.next_view_from = place.next_view_from;
  begun_.erase(found);

  own.vote = make_vote(own.info);
  const CheckpointVote vote = own.vote;
  const bool member = own.info.view.has(me_);
  own_.insert_or_assign(info.instance, std::move(own));
  if (member) {
    votes_[me_].insert_or_assign(info.instance, vote);
    send_vote(vote, out);
    if (!resend_at_) resend_at_ = now + resend_interval_;
  }
  settle(info.instance, out);
}

CheckpointVote Checkpoints::make_vote(const CheckpointInfo& info) const {
  CheckpointVote vote;
  vote.instance = info.instance;
  vote.digest = digest_of(info);
  if (model_ == FaultModel::byzantine) vote.signature = auth_.sign(signed_bytes(vote));
  return vote;
}

void Checkpoints::send_vote(const CheckpointVote& vote, std::vector<Action>& out) const {
  const MessagePtr shared = message(vote);
  for (const MemberInfo& member : own_.at(vote.instance).info.view.members) {
    if (member.id != me_) out.emplace_back(Send{member.id, shared, false});
  }
}

void Checkpoints::on_vote(ReplicaId from, const CheckpointVote& vote, std::vector<Action>& out) {
  if (from == me_) return;
  // Whoever still asks about what is stable here may have missed our word.
  if (stable_ && vote.instance <= stable_->checkpoint.instance) {
    const auto own = own_.find(vote.instance);
    if (own == own_.end() || vote.answer || !own->second.info.view.has(me_)) return;
    CheckpointVote answer = own->second.vote;
    answer.answer = true;
    out.emplace_back(Send{from, message(std::move(answer)), false});
    return;
  }
  // The first vote of a member counts, so its signature is checked once.
  auto& of_member = votes_[from];
  if (of_member.count(vote.instance) != 0) return;
  if (of_member.size() >= checkpoint_votes_kept && vote.instance < of_member.begin()->first) return;
  if (model_ == FaultModel::byzantine && !auth_.verify(from, signed_bytes(vote), vote.signature)) {
    return;
  }
  of_member.emplace(vote.instance, vote);
  if (of_member.size() > checkpoint_votes_kept) of_member.erase(of_member.begin());
  settle(vote.instance, out);
}

std::vector<ReplicaId> Checkpoints::others_at(Instance instance) const {
  const Own& own = own_.at(instance);
  std::vector<ReplicaId> others;
  for (const auto& [member, votes] : votes_) {
    const auto vote = votes.find(instance);
    if (vote == votes.end() || !own.info.view.has(member)) continue;
    if (vote->second.digest != own.vote.digest) others.push_back(member);
  }
  return others;
}

// Compares what members have said about one place with what this replica has.
void Checkpoints::settle(Instance instance, std::vector<Action>& out) {
  const auto found = own_.find(instance);
  if (found == own_.end() || parted_) return;
  const Own& own = found->second;
  const View& view = own.info.view;
  CheckpointProof proof{own.info, {}};
  std::map<Digest, std::size_t> states;
  std::size_t voted = 0, most = 0;
  for (const auto& [member, votes] : votes_) {
    const auto vote = votes.find(instance);
    if (vote == votes.end() || !view.has(member)) continue;
    voted += 1;
    most = std::max(most, ++states[vote->second.digest]);
    if (vote->second.digest == own.vote.digest) {
      proof.signatures.push_back({member, vote->second.signature});
    }
  }
  const auto others = others_at(instance);
  if (proof.signatures.size() < view.quorum()) {
    const bool others_agree = most >= view.quorum();
    if (others_agree || most + view.n() - voted < view.quorum()) {
      parted_ = Parted{stable_ ? stable_->checkpoint.instance : 0, instance, others_agree, others};
    }
    return;
  }
  for (const ReplicaId other : others) {
    out.emplace_back(Note{true, concat("the state of replica ", other, " after instance ", instance,
                                       " differs from that of a quorum")});
  }
  if (model_ == FaultModel::crash) proof.signatures.clear();
  make_stable(std::move(proof), out);
}

void Checkpoints::prove(ReplicaId from, const CheckpointProof& proof, std::vector<Action>& out) {
  const Instance instance = proof.checkpoint.instance;
  if (!could_prove(instance) || parted_) return;
  const Digest& mine = own_.at(instance).vote.digest;
  if (mine == digest_of(proof.checkpoint)) return make_stable(proof, out);
  parted_ = Parted{stable_ ? stable_->checkpoint.instance : 0, instance, true, {from}};
}

void Checkpoints::make_stable(CheckpointProof proof, std::vector<Action>& out) {
  const Instance instance = proof.checkpoint.instance;
  choose_kept(stable_ ? stable_->checkpoint.instance : 0, instance);
  stable_ = proof;
  std::erase_if(own_, [&](const auto& one) { return one.first < instance && one.first != kept_; });
  while (!unstable_.empty() && unstable_.front() <= instance) unstable_.pop_front();
  for (auto& [member, votes] : votes_) votes.erase(votes.begin(), votes.lower_bound(instance));
  if (own_.rbegin()->first == instance) resend_at_.reset();
  out.emplace_back(Persist{CheckpointStable{std::move(proof)}});
  out.emplace_back(Truncate{instance, kept_.value_or(0)});
}

void Checkpoints::tick(Time now, std::vector<Action>& out) {
  now_ = now;
  if (!resend_at_ || now < *resend_at_) return;
  resend_at_ = now + resend_interval_;
  for (const auto& [instance, own] : own_) {
    const bool open = !stable_ || instance > stable_->checkpoint.instance;
    if (open && own.info.view.has(me_)) send_vote(own.vote, out);
  }
}

std::optional<Time> Checkpoints::next_deadline() const { return resend_at_; }

void Checkpoints::adopt(CheckpointProof proof, std::vector<Digest> chunks) {
  const Instance instance = proof.checkpoint.instance;
  ENSURE(!stable_ || instance >= stable_->checkpoint.instance);
  begun_.erase(begun_.begin(), begun_.upper_bound(instance));
  own_.erase(own_.begin(), own_.upper_bound(instance));
  kept_.reset();
  Own own{proof.checkpoint, std::move(chunks), {}, bytes_in_all_};
  own.vote = make_vote(own.info);
  own_.emplace(instance, std::move(own));
  for (auto& [member, votes] : votes_) votes.erase(votes.begin(), votes.upper_bound(instance));
  while (!unstable_.empty() && unstable_.front() <= instance) unstable_.pop_front();
  stable_ = std::move(proof);
  if (own_.size() == 1) resend_at_.reset();
}

// ---- kept for others ------------------------------------------------------------------------

void Checkpoints::fetched(Time now, ReplicaId by, Instance instance) {
  now_ = now;
  if (own_.contains(instance)) fetches_[by] = {instance, now};
}

void Checkpoints::offered(Time now, ReplicaId to) {
  now_ = now;
  if (!stable_) return;
  const auto fetch = fetches_.find(to);
  const bool fetches = fetch != fetches_.end() && own_.contains(fetch->second.instance) &&
                       now - fetch->second.asked < fetch_silence_max;
  if (!fetches) fetched(now, to, stable_->checkpoint.instance);
}

void Checkpoints::follows(Time now, ReplicaId who, Instance decided) {
  const auto behind = own_.upper_bound(decided);
  if (behind != own_.begin()) fetched(now, who, std::prev(behind)->first);
}

bool Checkpoints::is_fetched(Instance instance) const {
  return std::any_of(fetches_.begin(), fetches_.end(), [&](const auto& one) {
    return one.second.instance == instance && now_ - one.second.asked < fetch_silence_max;
  });
}

// The one that is kept already rather than a younger one: who began first is done first.
void Checkpoints::choose_kept(Instance before, Instance stable) {
  const Instance candidate = kept_ && is_fetched(*kept_) ? *kept_ : before;
  kept_.reset();
  const auto found = own_.find(candidate);
  if (found == own_.end() || !is_fetched(candidate)) return;
  const Own& own = found->second;
  const std::uint64_t bytes = bytes_in_all_ - own.bytes_before;
  if (bytes > std::max<std::uint64_t>(own.info.bytes, checkpoint_bytes)) return;
  if (stable - candidate > kept_for_fetch_max) return;
  kept_ = candidate;
}

Instance Checkpoints::kept_from() const {
  if (!stable_) return 0;
  return kept_.value_or(stable_->checkpoint.instance);
}

const std::vector<Digest>* Checkpoints::manifest(Instance instance) const {
  const auto found = own_.find(instance);
  return found == own_.end() ? nullptr : &found->second.chunks;
}

Instance Checkpoints::reached_by(std::size_t members) const {
  std::vector<Instance> last;
  for (const auto& [member, votes] : votes_) {
    if (!votes.empty()) last.push_back(votes.rbegin()->first);
  }
  if (members == 0 || last.size() < members) return 0;
  std::sort(last.rbegin(), last.rend());
  return last[members - 1];
}

}  // namespace piracema::smr
