#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "smr/order/core/catch_up.h"
#include "smr/order/core/divergence_search.h"
#include "smr/order/core/ordering.h"
#include "smr/order/core/recovered.h"
#include "smr/order/core/retransmission.h"
#include "smr/order/core/state_server.h"
#include "smr/order/messages/actions.h"
#include "smr/order/messages/events.h"
#include "smr/order/messages/settings.h"

namespace piracema::smr {

/// What a core keeps in memory, as counts.
struct Footprint {
  /// Places where anybody has said something; all but a few are decided. At most 2 * unproven_max
  /// (settings.h), with crash faults kept_decided + view_delay.
  std::size_t instances = 0;
  /// Decided batches, for replicas that are behind. Of those after the newest checkpoint that a
  /// quorum is known to have at most unstable_checkpoints_max intervals and view_delay; of those
  /// before it, which somebody fetches or this replica has come by, at most kept_for_fetch_max and
  /// an interval (checkpoints.h).
  std::size_t batches = 0;
  /// That checkpoint's place. A replica that restarts may not know it again.
  Instance stable = 0;
  std::size_t requests = 0;
};

/// Orders requests among replicas of which some fail (paper 003, section 2.1.1); both fault
/// models. docs/design/006 tells how.
///
/// A pure state machine: told what happened, it answers what to do. No thread, clock, socket or
/// random number inside; time comes in and never goes back. Not safe for two threads.
///
/// Messages may be lost, doubled, late and in any order; who sent them is certain. What it sends
/// to itself comes back as Received like any other message, and once it is durable if it was sent
/// after_log: so its own votes count no earlier than others may count them.
///
/// Reads that are not ordered (ReadAsked). Crash: the leader lets a quorum confirm that it still
/// leads; others Refuse. Byzantine: each replica answers at once from what it has executed; the
/// client takes a result that quorum() replicas agree on, and orders the read if there is none. It
/// then has to wait for quorum() equal replies, not one_correct(), to what it writes too: else
/// a quorum of replicas that have not executed a write could answer a read that follows it.
class Core {
 public:
  /// The settings and the view are valid. Begin with a Tick. `auth` outlives the core.
  Core(Settings settings, ReplicaId me, const Authenticator& auth, Recovered recovered);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  /// Appends to `out` what is to be done.
  void step(Time now, Event event, std::vector<Action>& out);

  /// When to call with a Tick at the latest.
  std::optional<Time> next_deadline() const;

  // ---- for people, and for whoever has to find the leader -------------------------------------

  const View& view() const { return members_.view(); }
  Regency regency() const { return leadership_.regency(); }
  /// Of the regency; whether it is there yet is another question.
  ReplicaId leader() const { return leadership_.leader(); }
  /// Whether this replica is the leader and its regency has begun.
  bool leads() const { return leadership_.leads(); }
  /// All up to here is decided, and handed out to be executed.
  Instance decided() const { return progress_.decided(); }
  /// Digest over all decided batches in their order: equal on all replicas that are as far.
  Digest history() const { return progress_.history(); }
  std::size_t waiting_requests() const { return pool_.size(); }
  /// The newest place that a member of the view has spoken of; 0: none.
  Instance heard_of(std::size_t member) const { return peers_.newest_of(member); }
  /// It has lost what it had promised, and votes for nothing until it knows that again.
  bool is_silent() const { return !life_.remembered(); }
  /// Pieces of the checkpoint that it fetches, as far as it has them; 0 of 0 if it fetches none.
  std::pair<std::uint32_t, std::uint32_t> fetched() const;
  Footprint footprint() const;
  /// All views after the configuration's, each signed by members of the one before: for clients.
  std::vector<SignedView> signed_views() const { return views_.since(0); }

 private:
  void on(Received& event);
  void on(Submitted& event) { ordering_.submit(std::move(event.request)); }
  void on(ReadAsked& event) { reads_.ask(event.token); }
  void on(Executed& event) { progress_.executed(event.instance, event.timer); }
  void on(CheckpointTaken& event) {
    state_server_.taken(event.checkpoint, std::move(event.chunks));
  }
  void on(CheckpointSkipped& event) { checkpoints_.skipped(event.instance); }
  void on(CheckpointLoaded& event) { catch_up_.on(event); }
  void on(LinkLost& event) { leader_change_.lost_link(event.to); }
  void on(Tick& event);
  template <class M>
  void hand_over(Sender from, const M& m);
  void start();
  void forgive_own_lateness(Time time);

  const Settings settings_;
  /// Until the first step, in which its log is read.
  std::optional<Recovered> recovered_;

  // Each knows those before it.
  Membership members_;
  Step step_;
  Progress progress_;
  Instances instances_;
  DecidedLog decided_log_;
  AgreedClock clock_;
  RequestPool pool_;
  FormerLife life_;
  Reconfiguration views_;
  Checkpoints checkpoints_;
  StateTransfer transfer_;
  DecisionProofs proofs_;
  Leadership leadership_;
  LeaderPatience patience_;
  ConfirmedReads reads_;
  Proposer proposer_;
  LeaderChange leader_change_;
  LeaderWatch leader_watch_;
  PeerProgress peers_;
  RetransmissionTimers timers_;
  Ordering ordering_;
  Retransmission retransmission_;
  StateServer state_server_;
  CatchUp catch_up_;
  DivergenceSearch divergence_search_;
};

}  // namespace piracema::smr
