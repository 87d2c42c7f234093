#pragma once

#include <optional>

#include "smr/order/agreement/agreed_clock.h"
#include "smr/order/agreement/consensus.h"
#include "smr/order/agreement/decided_log.h"
#include "smr/order/core/peer_progress.h"
#include "smr/order/core/proposal_check.h"
#include "smr/order/core/retransmission_timers.h"
#include "smr/order/leader/leader_watch.h"
#include "smr/order/transfer/checkpoints.h"
#include "smr/order/transfer/decision_proofs.h"
#include "smr/order/transfer/state_transfer.h"
#include "smr/order/views/reconfiguration.h"

namespace piracema::smr {

/// The order: from a proposal to this replica's votes, from votes to a decision, and what a
/// decision brings with it: checkpoints, proofs and other views. Byzantine: PROPOSE, WRITE, ACCEPT.
/// Crash: PROPOSE, ACCEPT.
class Ordering {
 public:
  Ordering(const Settings& settings, Step& step, Membership& members, Progress& progress,
           FormerLife& life, Leadership& leadership, LeaderPatience& patience,
           ConfirmedReads& reads, Proposer& proposer, LeaderChange& leader_change,
           LeaderWatch& leader_watch, Instances& instances, AgreedClock& clock, RequestPool& pool,
           DecisionProofs& proofs, DecidedLog& decided_log, Checkpoints& checkpoints,
           Reconfiguration& views, StateTransfer& transfer, PeerProgress& peers,
           RetransmissionTimers& timers, const Authenticator& auth);

  void handle(Sender from, const Propose& m);
  void handle(Sender from, const Write& m);
  void handle(Sender from, const Accept& m);
  void handle(Sender from, const Forward& m);
  void handle(Sender from, const Milestone& m);
  void handle(Sender from, const Sync& m);
  void handle(Sender from, const ViewVote& m);
  void handle(Sender from, const SignedView& m);

  /// A client's request, which was verified.
  void submit(Request request);
  /// Proposes all that can be, if this replica leads.
  void propose();
  bool can_propose() const;
  /// Looks again at what came too early by the agreed clock, when its time has come.
  void tick();
  std::optional<Time> next_deadline() const { return check_.look_again_at(); }

  // ---- for those who learn what is decided in other ways --------------------------------------

  /// Null if it is too old, or too far ahead for this replica: that is noted, and asked for.
  Consensus* instance_at(Instance instance);
  /// This batch is decided there, whether it is here or not.
  void decide(Instance instance, Consensus& consensus, const Digest& digest);
  /// Hands out what is decided without a gap.
  void advance();
  /// The next instance is known for certain to be this batch.
  void learn(BatchPtr batch);
  /// The proof is good.
  void use_proof(DecisionProof better);
  /// Fetches what others have, if somebody is further than what they still repeat, or repeating
  /// does not help.
  void check_far_behind();

  /// The service is becoming a checkpoint: what is handed out meanwhile would be lost.
  void set_loading(bool loading) { loading_ = loading; }
  bool loading() const { return loading_; }
  /// The service is now what `checkpoint` says; the order goes on behind it.
  void jump_to(const CheckpointInfo& checkpoint);

  /// The last instance of a view is decided; the next one is for others to order.
  bool at_boundary() const;
  /// Into the next view, if nothing keeps this replica in the old one.
  void pass_view();
  Position position() const { return {views_, progress_.decided(), progress_.history()}; }

 private:
  Instance horizon() const;
  Instance proposal_horizon() const;
  void consider(Instance instance, Consensus& consensus);
  void consider_from(Instance first);
  void doubt_again();
  void take(Instance instance, Consensus& consensus, BatchPtr batch);
  void check_written(Instance instance, Consensus& consensus);
  void hand_out(BatchPtr batch);
  void forget_decided();
  void decide_view(const Batch& batch);
  void use_view();
  void pass_milestone();
  void begin_regency(Binding binding);

  const Settings settings_;
  Step& step_;
  Membership& members_;
  Progress& progress_;
  FormerLife& life_;
  Leadership& leadership_;
  LeaderPatience& patience_;
  ConfirmedReads& reads_;
  Proposer& proposer_;
  LeaderChange& leader_change_;
  LeaderWatch& leader_watch_;
  Instances& instances_;
  AgreedClock& clock_;
  RequestPool& pool_;
  DecisionProofs& proofs_;
  DecidedLog& decided_log_;
  Checkpoints& checkpoints_;
  Reconfiguration& views_;
  StateTransfer& transfer_;
  PeerProgress& peers_;
  RetransmissionTimers& timers_;
  const Authenticator& auth_;
  ProposalCheck check_;
  bool loading_ = false;
  /// What is handed out was fetched, or was known before: the leader had no part in it.
  bool catching_up_ = false;
};

}  // namespace piracema::smr
