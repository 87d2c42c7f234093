#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "smr/order/messages/actions.h"
#include "smr/order/messages/events.h"
#include "smr/order/messages/settings.h"
#include "smr/order/transfer/partial_checkpoint.h"

namespace piracema::smr {

/// What a replica finds again when it starts.
struct Recovered {
  /// Of the configuration; what the checkpoint and the log say is newer.
  View view;
  /// The service has been restored from it.
  std::optional<CheckpointInfo> checkpoint;
  /// In the order in which they were written; those that the checkpoint covers may be missing.
  std::vector<LogRecord> log;
  /// The log was lost or does not hold all that was synced: the replica may have voted for what it
  /// no longer knows. It stays silent until it has caught up with all that it may have voted for.
  /// False for a replica that starts for the first time ever.
  bool amnesia = false;
  /// Never given to this replica before, such as a random one: answers to an earlier life of it
  /// are told apart.
  std::uint64_t nonce = 0;
  /// Digests of the checkpoint's pieces.
  std::vector<Digest> chunks;
  /// What was received of a checkpoint before the process ended.
  std::optional<PartialCheckpoint> partial;
  /// Who may be a member by now, besides the view's: of all members of that, nobody may be left to
  /// ask. They are asked for the state; what they say has to be signed from the view on.
  std::vector<ReplicaId> added = {};
};

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
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  /// Appends to `out` what is to be done.
  void step(Time now, Event event, std::vector<Action>& out);

  /// When to call with a Tick at the latest.
  std::optional<Time> next_deadline() const;

  // ---- for people, and for whoever has to find the leader -------------------------------------

  const View& view() const;
  Regency regency() const;
  /// Of the regency; whether it is there yet is another question.
  ReplicaId leader() const;
  /// Whether this replica is the leader and its regency has begun.
  bool leads() const;
  /// All up to here is decided, and handed out to be executed.
  Instance decided() const;
  /// Digest over all decided batches in their order: equal on all replicas that are as far.
  Digest history() const;
  std::size_t waiting_requests() const;
  /// It has lost what it had promised, and votes for nothing until it knows that again.
  bool is_silent() const;
  /// Pieces of the checkpoint that it fetches, as far as it has them; 0 of 0 if it fetches none.
  std::pair<std::uint32_t, std::uint32_t> fetched() const;
  Footprint footprint() const;
  /// All views after the configuration's, each signed by a quorum of the one before: for clients.
  std::vector<SignedView> signed_views() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace piracema::smr
