#include "smr/order/views/reconfiguration.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "smr/order/messages/digest.h"
#include "smr/order/messages/proofs.h"
#include "smr/order/messages/statements.h"

namespace piracema::smr {

namespace {

bool same(const View& a, const View& b) {
  const Buffer one = signed_bytes(a), other = signed_bytes(b);
  return as_text(one) == as_text(other);
}

}  // namespace

Reconfiguration::Reconfiguration(ReplicaId me, const Authenticator& auth, View view,
                                 Time resend_interval)
    : me_(me), auth_(auth), resend_interval_(resend_interval), view_(view), first_(view) {}

void Reconfiguration::decided(Time now, Instance instance, const Batch& batch,
                              std::vector<Action>& out) {
  for (const Request& request : batch.requests) {
    if (request.kind != Kind::reconfigure) continue;
    if (next_) {
      out.emplace_back(Note{true, concat("a change of the view at instance ", instance,
                                         " is refused: another one is waiting")});
      return;
    }
    auto next = next_view(view_, request.operation);
    if (!next) {
      out.emplace_back(Note{true, concat("a change of the view at instance ", instance,
                                         " is refused: ", next.error().message)});
      continue;
    }
    next_ = *std::move(next);
    next_from_ = instance + view_delay + 1;
    out.emplace_back(Persist{ViewScheduled{next_from_, *next_}});
    out.emplace_back(Note{false, concat("view ", next_->id, " with ", next_->n(), " replicas, f = ",
                                        next_->f, ", from instance ", next_from_)});
    begin_signing();
    say(out);
    resend_at_ = now + resend_interval_;
    gather(out);
    return;
  }
}

bool Reconfiguration::passed(Instance instance, std::vector<Action>& out) {
  if (!next_ || instance + 1 < next_from_) return false;
  view_ = *std::exchange(next_, std::nullopt);
  out.emplace_back(UseView{view_});
  return true;
}

void Reconfiguration::recover(const ViewScheduled& scheduled) {
  if (scheduled.view.id != view_.id + 1) return;
  next_ = scheduled.view;
  next_from_ = scheduled.from;
  begin_signing();
  resend_at_ = Time{};
}

void Reconfiguration::recover(const ViewSigned& known) {
  const SignedView& one = known.view;
  signed_.insert_or_assign(one.view.id, one);
  if (own_ && own_->view.id == one.view.id) resend_at_.reset();
}

// Its quorum was believed, so the views in it are.
void Reconfiguration::jump(const CheckpointInfo& checkpoint, std::vector<Action>& out) {
  const bool other = !same(view_, checkpoint.view);
  view_ = checkpoint.view;
  next_ = checkpoint.next_view;
  next_from_ = checkpoint.next_view_from;
  if (other) out.emplace_back(UseView{view_});
  if (!next_ || signed_.count(next_->id) != 0) return;
  begin_signing();
  resend_at_ = Time{};
  gather(out);
}

// Who is no member asks by the same message for the signatures of those who are, and counts for
// nothing: it may be one of few that are left to prove to others how it has become a member.
void Reconfiguration::begin_signing() {
  signers_ = view_;
  own_ = ViewVote{*next_, auth_.sign(signed_bytes(*next_))};
  votes_.clear();
  if (view_.has(me_)) votes_[me_] = *own_;
}

// To those who sign it with us, and to those who are new and could not have heard of it.
void Reconfiguration::say(std::vector<Action>& out) const {
  const MessagePtr shared = message(*own_);
  std::set<ReplicaId> all;
  for (const MemberInfo& member : signers_->members) all.insert(member.id);
  for (const MemberInfo& member : own_->view.members) all.insert(member.id);
  for (const ReplicaId id : all) {
    if (id != me_) out.emplace_back(Send{id, shared, true});
  }
}

void Reconfiguration::on_vote(ReplicaId from, const ViewVote& vote, std::vector<Action>& out) {
  if (const auto known = signed_.find(vote.view.id); known != signed_.end()) {
    // Who still asks for signatures gets all of them; who has sent a wrong view, too.
    if (from != me_) out.emplace_back(Send{from, message(known->second), false});
    return;
  }
  if (!signers_ || !signers_->has(from) || !own_ || !same(vote.view, own_->view)) return;
  if (!auth_.verify(from, signed_bytes(vote.view), vote.signature)) return;
  votes_[from] = vote;
  gather(out);
}

void Reconfiguration::gather(std::vector<Action>& out) {
  if (!own_ || votes_.size() < signers_->prove_next()) return;
  SignedView all{own_->view, {}};
  for (const auto& [member, vote] : votes_) all.signatures.push_back({member, vote.signature});
  resend_at_.reset();
  signed_.insert_or_assign(all.view.id, all);
  out.emplace_back(Persist{ViewSigned{std::move(all)}});
}

void Reconfiguration::on_signed(const SignedView& next, std::vector<Action>& out) {
  if (signed_.count(next.view.id) != 0 || !validate(next.view)) return;
  const auto before = signed_.find(next.view.id - 1);
  const View& last = before != signed_.end() ? before->second.view : first_;
  if (!proven(next, last, auth_)) return;
  signed_.insert_or_assign(next.view.id, next);
  if (own_ && own_->view.id == next.view.id) resend_at_.reset();
  out.emplace_back(Persist{ViewSigned{next}});
}

void Reconfiguration::tick(Time now, std::vector<Action>& out) {
  if (!resend_at_ || now < *resend_at_) return;
  gather(out);  // Of a view that was read from the log.
  if (!resend_at_) return;
  resend_at_ = now + resend_interval_;
  say(out);
}

std::vector<SignedView> Reconfiguration::since(ViewId known) const {
  std::vector<SignedView> chain;
  for (auto one = signed_.upper_bound(known); one != signed_.end(); ++one) {
    chain.push_back(one->second);
  }
  return chain;
}

bool Reconfiguration::proves(const DecisionProof& proof) const {
  if (proven(proof, view_, auth_)) return true;
  return std::any_of(signed_.begin(), signed_.end(),
                     [&](const auto& one) { return proven(proof, one.second.view, auth_); });
}

std::vector<ReplicaId> Reconfiguration::others() const {
  std::set<ReplicaId> all;
  const auto add = [&](const View& view) {
    for (const MemberInfo& member : view.members) all.insert(member.id);
  };
  add(view_);
  if (next_) add(*next_);
  if (!signed_.empty() && signed_.rbegin()->first > view_.id) add(signed_.rbegin()->second.view);
  all.erase(me_);
  return {all.begin(), all.end()};
}

std::vector<ReplicaId> Reconfiguration::to_ask() const {
  std::vector<ReplicaId> all = others();
  all.insert(all.end(), added_.begin(), added_.end());
  std::erase(all, me_);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

bool Reconfiguration::trusts(const View& view) const {
  if (same(view, view_) || same(view, first_) || (next_ && same(view, *next_))) return true;
  const auto known = signed_.find(view.id);
  return known != signed_.end() && same(view, known->second.view);
}

}  // namespace piracema::smr
