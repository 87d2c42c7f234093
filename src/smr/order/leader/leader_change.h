#pragma once

#include <optional>
#include <string>
#include <vector>

#include "smr/order/agreement/binding.h"
#include "smr/order/leader/confirmed_reads.h"
#include "smr/order/leader/leader_patience.h"
#include "smr/order/leader/leadership.h"
#include "smr/order/leader/proposer.h"
#include "smr/order/step/progress.h"
#include "smr/order/step/step.h"
#include "smr/order/transfer/decision_proofs.h"

namespace piracema::smr {

/// STOP, STOPDATA and SYNC: away from a leader that does not do its work (paper 003, section 2.1.1;
/// the synchronisation phase of Mod-SMaRt). It looks at all open instances at once. What a SYNC
/// binds is for the caller to take over.
class LeaderChange {
 public:
  LeaderChange(Time resend_interval, Step& step, const Membership& members, Leadership& leadership,
               const FormerLife& life, LeaderPatience& patience, ConfirmedReads& reads,
               Proposer& proposer, const Progress& progress, Instances& instances,
               const DecisionProofs& proofs, const RequestPool& pool, const Authenticator& auth);

  /// Asks for another leader, in one line why.
  void demand(const std::string& why);
  /// From here on this replica votes in no older regency: what it tells the new leader stays true.
  void enter(Regency next);
  void handle(Sender from, const Stop& m);
  void handle(Sender from, const StopData& m);
  /// Into the new regency, if the SYNC is news and good: everybody computes from the same collects
  /// what is bound there.
  std::optional<Binding> on_sync(Sender from, const Sync& m);

  /// A connection has ended; a member has spoken.
  void lost_link(ReplicaId to);
  void heard(std::size_t member) { lost_[member] = false; }
  /// To somebody who is in an older regency.
  void tell_regency(ReplicaId to);
  /// The regency of the log has not begun: its leader is told what this replica knows.
  void send_stop_data();
  /// Says again what may have been lost, when it is time.
  void repeat_stop();
  void repeat_stop_data();
  std::optional<Time> next_deadline() const;

  /// Another view rules, in which nobody asked for anything yet.
  void begin_view();

 private:
  void ask_to_stop(Regency wanted);
  void follow_regencies();
  void send_sync(ReplicaId to);
  Collect make_collect() const;
  /// Whether a correct replica can have sent it.
  bool acceptable(const Collect& collect, Regency expected) const;
  std::optional<Binding> check(const Sync& m) const;
  void gather();

  const Time resend_interval_;
  Step& step_;
  const Membership& members_;
  Leadership& leadership_;
  const FormerLife& life_;
  LeaderPatience& patience_;
  ConfirmedReads& reads_;
  Proposer& proposer_;
  const Progress& progress_;
  Instances& instances_;
  const DecisionProofs& proofs_;
  const RequestPool& pool_;
  const Authenticator& auth_;
  /// Of this regency, or of a later one that this replica has not entered.
  std::vector<std::optional<Collect>> collects_;
  /// The SYNC of this regency, for whoever missed it.
  MessagePtr sync_;
  /// Whose connection ended and who has not spoken since.
  std::vector<bool> lost_;
  Time stop_again_{}, stop_data_again_{};
};

}  // namespace piracema::smr
