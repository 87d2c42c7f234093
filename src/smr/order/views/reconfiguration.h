#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "smr/order/messages/actions.h"
#include "smr/order/messages/settings.h"
#include "smr/order/views/view_change.h"

namespace piracema::smr {

/// Which members order which instances, and who can prove it (paper 003, section 2.1: n and f
/// change while the system runs). A change that is decided at instance i rules from
/// i + view_delay + 1 on, so that every replica knows the members of an instance before it votes
/// there; BFT-SMaRt has one instance at a time and needs no delay. Pure.
class Reconfiguration {
 public:
  Reconfiguration(ReplicaId me, const Authenticator& auth, View view, Time resend_interval);

  /// By the configuration, which need not be up to date.
  void may_be_added(std::vector<ReplicaId> added) { added_ = std::move(added); }

  /// The one that rules the next instance; and the one that will.
  const View& view() const { return view_; }
  const std::optional<View>& next() const { return next_; }
  Instance next_from() const { return next_from_; }
  /// While a change is waiting: everything up to here has to be decided for it to come, so a leader
  /// proposes empty batches if it has nothing else. 0 otherwise.
  Instance fill_until() const { return next_ ? next_from_ - 1 : 0; }

  /// The batch at `instance` is decided; told of every one, in order. The first change in it that
  /// is good is taken, unless one is waiting: ViewScheduled, the word of an old member to all.
  void decided(Time now, Instance instance, const Batch& batch, std::vector<Action>& out);
  /// True, with UseView, if the view changes for what comes after `instance`.
  bool passed(Instance instance, std::vector<Action>& out);
  /// From the log, in its order; and from a checkpoint.
  void recover(const ViewScheduled& scheduled);
  void recover(const ViewSigned& known);
  void jump(const CheckpointInfo& checkpoint, std::vector<Action>& out);

  /// A member's signature under the next view; View::prove_next() of the old one make a SignedView.
  void on_vote(ReplicaId from, const ViewVote& vote, std::vector<Action>& out);
  /// Believed if it follows on the last one that is. A replica that is behind learns in this way
  /// whose checkpoints to believe.
  void on_signed(const SignedView& next, std::vector<Action>& out);
  void tick(Time now, std::vector<Action>& out);
  std::optional<Time> next_deadline() const { return resend_at_; }

  /// For those who know view `known`: all signed ones since, in order.
  std::vector<SignedView> since(ViewId known) const;
  /// Whether a correct member of a view that is believed has decided this.
  bool proves(const DecisionProof& proof) const;
  /// Members of all views that may rule now, as far as this replica knows, without itself.
  std::vector<ReplicaId> others() const;
  /// Them, and who may have been added since, of whom there may be no word yet.
  std::vector<ReplicaId> to_ask() const;
  /// Whether it is the view of the configuration or signed by those who believed it, one after
  /// another.
  bool trusts(const View& view) const;

 private:
  void begin_signing();
  void say(std::vector<Action>& out) const;
  void gather(std::vector<Action>& out);

  const ReplicaId me_;
  const Authenticator& auth_;
  const Time resend_interval_;
  View view_;
  std::optional<View> next_;
  Instance next_from_ = 0;
  /// The view before the one that is being signed, and what this replica says of that.
  std::optional<View> signers_;
  std::optional<ViewVote> own_;
  std::map<ReplicaId, ViewVote> votes_;
  std::optional<Time> resend_at_;
  /// The configuration's, then each by its number.
  View first_;
  std::vector<ReplicaId> added_;
  std::map<ViewId, SignedView> signed_;
};

}  // namespace piracema::smr
