#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "smr/mutant.h"
#include "smr/order/agreement/agreed_clock.h"
#include "smr/order/agreement/consensus.h"
#include "smr/order/agreement/decided_log.h"
#include "smr/order/agreement/divergence.h"
#include "smr/order/agreement/former_life.h"
#include "smr/order/agreement/request_pool.h"
#include "smr/order/core/core.h"
#include "smr/order/core/peer_progress.h"
#include "smr/order/core/retransmission_timers.h"
#include "smr/order/leader/leader_watch.h"
#include "smr/order/step/membership.h"
#include "smr/order/step/progress.h"
#include "smr/order/step/step.h"
#include "smr/order/transfer/checkpoints.h"
#include "smr/order/transfer/decision_proofs.h"
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
  FormerLife life;
  Leadership leadership;
  LeaderPatience patience;
  ConfirmedReads reads;

  bool started = false;

  // The order.
  Instances instances;
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
  Time ask_again{};
  /// Where this replica was then.
  Instance asked_at = 0;
  /// The service is becoming a checkpoint: nothing is handed out.
  bool loading = false;

  // The leader.
  RequestPool pool;
  /// A proposal is held of which this replica could not verify all requests.
  bool some_doubtful = false;
  DecisionProofs proofs;
  Proposer proposer;
  LeaderChange leader_change;
  LeaderWatch leader_watch;
  PeerProgress peers;
  RetransmissionTimers timers;

  /// What is handed out was fetched, or was known before: the leader had no part in it.
  bool catching_up = false;

  // ---- what follows from it ---------------------------------------------------------------------
  /// Nobody tells this replica what is decided: it is no member yet, or may not say a word.
  bool has_to_ask() const {
    return !life.remembered() || (!members.own() && !SMR_MUTANT("newcomers_wait"));
  }
  /// No instance above it is heard of: bounds memory, and keeps to members that are known.
  Instance horizon() const {
    Instance reach =
        std::min(progress.decided(), progress.executed() + settings.backlog) + view_delay;
    reach = std::min(reach, checkpoints.horizon());
    // What is decided is kept until it is proven, for changes of the leader.
    if (members.byzantine()) reach = std::min(reach, proofs.proven() + 2 * unproven_max);
    return views.next() ? std::min(reach, views.next_from() - 1) : reach;
  }
};

}  // namespace piracema::smr
