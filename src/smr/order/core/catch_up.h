#pragma once

#include <optional>
#include <vector>

#include "smr/order/core/ordering.h"
#include "smr/order/core/state_server.h"
#include "smr/order/messages/events.h"

namespace piracema::smr {

/// How a replica comes to where the others are by their checkpoints and logs: what it makes of what
/// the state transfer brings, and when it asks for more. One without its memory votes again once it
/// has all that it may have voted for.
class CatchUp {
 public:
  CatchUp(Time resend_interval, Step& step, const Membership& members, FormerLife& life,
          const Leadership& leadership, const Progress& progress, Checkpoints& checkpoints,
          Reconfiguration& views, StateTransfer& transfer, const DecisionProofs& proofs,
          LeaderChange& leader_change, StateServer& server, Ordering& ordering, Instance backlog,
          const Authenticator& auth);

  void handle(Sender from, const StateOffer& m);
  void handle(Sender from, const Manifest& m);
  void handle(Sender from, const Chunk& m);
  void handle(Sender from, const LogSuffix& m);
  void handle(Sender from, const Gone& m);
  /// The service has become the checkpoint that was fetched, or has not.
  void on(const CheckpointLoaded& event);

  void tick();
  std::optional<Time> next_deadline() const;

 private:
  void use_proof(const DecisionProof& proof);
  /// Batches that came and waited for the service are next.
  bool can_go_on() const { return transfer_.has_kept() && !waits_for_service(); }
  bool waits_for_service() const { return progress_.decided() >= progress_.executed() + backlog_; }
  void learn(Instance from, std::vector<BatchPtr> batches);
  bool is_believed(const CheckpointProof& offered) const;
  void act_or_load(std::vector<Action>& wanted);
  void load(const CheckpointInfo& checkpoint);
  void regain_memory();
  /// Nobody tells this replica what is decided: it is no member yet, may not say a word, or is left
  /// behind in a view.
  bool has_to_ask() const;
  /// The next view is decided, and nothing since for long: who is in it already says nothing to
  /// those who are not, and the others of this one may be gone.
  bool is_left_behind() const { return left_behind_at_ && step_.now() >= *left_behind_at_; }
  void look_whether_left_behind();
  Time ask_interval();

  const Time resend_interval_;
  Step& step_;
  const Membership& members_;
  FormerLife& life_;
  const Leadership& leadership_;
  const Progress& progress_;
  Checkpoints& checkpoints_;
  Reconfiguration& views_;
  StateTransfer& transfer_;
  const DecisionProofs& proofs_;
  LeaderChange& leader_change_;
  StateServer& server_;
  Ordering& ordering_;
  const Instance backlog_;
  const Authenticator& auth_;
  Time ask_again_{};
  /// Where this replica was when it asked; and when it was seen to be before the next view.
  Instance asked_at_ = 0, seen_at_ = 0;
  std::optional<Time> left_behind_at_;
};

}  // namespace piracema::smr
