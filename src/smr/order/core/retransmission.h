#pragma once

#include <optional>

#include "smr/order/core/ordering.h"

namespace piracema::smr {

/// What was lost on the way is said again when nothing goes on without it: whoever is stuck
/// repeats its own words and asks for those of the others. There is no other retransmission.
class Retransmission {
 public:
  Retransmission(Step& step, const Membership& members, const Leadership& leadership,
                 const Progress& progress, Instances& instances, const DecidedLog& decided_log,
                 const DecisionProofs& proofs, Proposer& proposer, LeaderChange& leader_change,
                 LeaderWatch& leader_watch, PeerProgress& peers, RetransmissionTimers& timers,
                 Ordering& ordering);

  void handle(Sender from, const Heartbeat& m);
  void handle(Sender from, const Behind& m);
  void handle(Sender from, const Decided& m);
  void handle(Sender from, const FetchBatch& m);
  void handle(Sender from, const FetchedBatch& m);
  /// It was cut off when its view ended, and may believe that it leads.
  void tell_of_view(ReplicaId to, const Heartbeat& m);

  /// Says again what may have been lost, and asks for what the others have said, if it is time.
  void tick();
  std::optional<Time> next_deadline() const;

 private:
  bool is_stuck() const;
  void say_again();
  void repeat(ReplicaId to, Instance instance, Consensus& consensus);

  Step& step_;
  const Membership& members_;
  const Leadership& leadership_;
  const Progress& progress_;
  Instances& instances_;
  const DecidedLog& decided_log_;
  const DecisionProofs& proofs_;
  Proposer& proposer_;
  LeaderChange& leader_change_;
  LeaderWatch& leader_watch_;
  PeerProgress& peers_;
  RetransmissionTimers& timers_;
  Ordering& ordering_;
};

}  // namespace piracema::smr
