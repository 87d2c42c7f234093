#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "smr/mutant.h"
#include "smr/order/agreement/agreed_clock.h"
#include "smr/order/agreement/amnesia.h"
#include "smr/order/agreement/consensus.h"
#include "smr/order/agreement/decided_log.h"
#include "smr/order/agreement/divergence.h"
#include "smr/order/agreement/leader_rate.h"
#include "smr/order/agreement/regencies.h"
#include "smr/order/agreement/request_pool.h"
#include "smr/order/core/core.h"
#include "smr/order/step/membership.h"
#include "smr/order/step/progress.h"
#include "smr/order/step/step.h"
#include "smr/order/transfer/checkpoints.h"
#include "smr/order/transfer/milestones.h"
#include "smr/order/transfer/state_transfer.h"
#include "smr/order/views/reconfiguration.h"

namespace piracema::smr {

/// What a core knows; what it does with it is in core_parts.h. Nobody else includes it.
struct CoreData {
  CoreData(Settings settings, ReplicaId me, const Authenticator& auth, Recovered recovered);

  const Settings settings;
  const Authenticator& auth;
  Membership members;
  Step step;
  Progress progress;
  /// Until the first step.
  Recovered recovered;

  bool started = false;
  /// Of the log that is replayed: up to here everything has to be known for it to count.
  Instance builds_on = 0;
  /// False while this replica may have voted for what it no longer knows.
  bool voting = true;
  /// Not at or below this: it may have done so in a life that it forgot.
  Instance votes_above = 0;

  // The order.
  Instances instances;
  Milestones milestones;
  /// The best one known, of others as well: it may be above `decided`.
  DecisionProof proof;
  /// What the others say that they have decided; hints.
  std::vector<Instance> decided_by;
  /// When each was last told again what this replica has said.
  std::vector<Time> repeated_at;
  AgreedClock clock;
  /// When a batch that came too early by it is to be looked at again.
  std::optional<Time> look_again_at;

  // What others need, and what comes from them.
  DecidedLog decided_log;
  Checkpoints checkpoints;
  Reconfiguration views;
  StateTransfer transfer;
  /// Set once this replica's state is not that of others: it does nothing else any more.
  std::optional<Divergence> divergence;
  Amnesia amnesia;
  Time ask_again{};
  /// Where this replica was then.
  Instance asked_at = 0;
  /// The service is becoming a checkpoint: nothing is handed out.
  bool loading = false;

  // The leader.
  RequestPool pool;
  Regencies regencies;
  /// Byzantine.
  LeaderRate leader_rate;
  /// The highest that is in the log.
  Regency stop_said = 0;
  /// What is bound in this regency is known.
  bool synced = true;
  /// Below it this replica may have proposed what it no longer knows.
  Regency leads_from = 0;
  /// A proposal is held of which this replica could not verify all requests.
  bool some_doubtful = false;
  /// This replica's entry into this regency is durable.
  bool entry_durable = false;
  std::map<Instance, Digest> bound;
  /// Places up to here are proposed even if nobody waits: they may hide holes.
  Instance fill_until = 0;
  Instance base = 0;
  Instance next_instance = 1;
  /// Where this leader has proposed the last batch without requests, which is a tick.
  Instance ticked_at = 0;
  /// Bound there, and asked for with FetchBatch.
  std::optional<Instance> fetching;
  /// Of this regency, or of a later one that this replica has not entered.
  std::vector<std::optional<Collect>> collects;
  /// The SYNC of this regency, for whoever missed it.
  MessagePtr sync;
  unsigned failures = 0;
  /// Whose connection ended and who has not spoken since.
  std::vector<bool> lost;

  // Times.
  Time heard_leader{}, beat_at{}, sync_by{}, stop_again{}, stop_data_again{}, say_again_at{};
  /// When a new leader has to have caught up with what is bound.
  Time ready_by{};
  /// The last decision.
  Time progress_at{};
  /// When this regency began here, and until when its leader was seen to work.
  Time regency_began{}, worked_until{};
  /// Since when patience has been what it is, and how often in a row this replica has forgiven its
  /// own lateness.
  Time patience_since{};
  unsigned forgiven = 0;
  /// What is handed out was fetched, or was known before: the leader had no part in it.
  bool catching_up = false;
  Time say_again_every{};
  /// In vain, since the last decision.
  unsigned say_again_count = 0;
  /// A message was beyond the horizon, or somebody is further than this replica.
  bool others_ahead = false;

  struct Read {
    std::uint64_t token = 0;
    /// All that may have been acknowledged before it was asked.
    Instance after = 0;
  };
  std::vector<Read> reads_waiting, reads_asked, reads_confirmed;
  std::uint64_t read_round = 0;
  std::set<std::size_t> confirmed_by;
  Time read_again{};

  // ---- what follows from it ---------------------------------------------------------------------
  Regency regency() const { return regencies.entered(); }
  /// Not asking for another leader already.
  bool content() const { return regencies.wanted() == regency(); }
  /// A member, with all of its memory.
  bool votes() const { return voting && members.own(); }
  /// Nobody tells this replica what is decided: it is no member yet, or may not say a word.
  bool has_to_ask() const { return !voting || (!members.own() && !SMR_MUTANT("newcomers_wait")); }
  bool leads() const {
    return synced && votes() && members.view().leader(regency()) == members.me() &&
           regency() >= leads_from;
  }
  /// No instance above it is heard of: bounds memory, and keeps to members that are known.
  Instance horizon() const {
    Instance reach =
        std::min(progress.decided(), progress.executed() + settings.backlog) + view_delay;
    reach = std::min(reach, checkpoints.horizon());
    // What is decided is kept until it is proven, for changes of the leader.
    if (members.byzantine()) reach = std::min(reach, proof.instance + 2 * unproven_max);
    return views.next() ? std::min(reach, views.next_from() - 1) : reach;
  }
  void hear_leader() {
    heard_leader = step.now();
    forgiven = 0;
    // Where nobody wants anything it does all that there is to be done.
    if (synced && pool.size() == 0) leader_works();
  }
  /// The leader does its work. Some time of that ends patience, and no single decision does: that
  /// is no proof that the wait was worth it.
  void leader_works() {
    worked_until = step.now();
    if (failures == 0 || step.now() < patience_since + Time(settings.silence_timeout)) return;
    failures -= 1;
    patience_since = step.now();
  }
  /// For as long as a leader is waited for, since its regency began.
  bool leader_has_worked() const {
    return synced && worked_until >= regency_began + Time(settings.silence_timeout);
  }
  /// Whether this replica would soon have asked for another leader itself, for lack of patience:
  /// not if the leader's connection ended, or if the others went on while this one was away.
  bool has_waited_long() const {
    if (!synced) return step.now() + Time(settings.sync_timeout) / 2 >= sync_by;
    const bool silent = members.view().leader(regency()) != members.me() &&
                        step.now() >= heard_leader + Time(settings.silence_timeout) / 2;
    return silent ||
           (pool.size() != 0 && step.now() >= progress_at + Time(settings.request_timeout) / 2);
  }
  /// How long to wait: doubles with every change of the leader that has failed itself, as the
  /// leader that it brought was waited for in vain before it had worked for a while. One that had
  /// is replaced without a longer wait.
  Time patient(milliseconds time) const {
    return Time(time) * (std::int64_t{1} << std::min(failures, 6u));
  }
  /// Only a demand waits longer for it: others may have to hear of a request before it is believed,
  /// whoever leads.
  RequestPool::Patience request_patience() const {
    return {Time(settings.request_timeout), patient(settings.request_timeout)};
  }
};

}  // namespace piracema::smr
