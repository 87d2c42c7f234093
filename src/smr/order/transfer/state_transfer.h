#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/clock.h"
#include "smr/order/messages/events.h"
#include "smr/order/transfer/checkpoint_fetch.h"
#include "smr/order/transfer/log_fetch.h"
#include "smr/order/views/reconfiguration.h"

namespace piracema::smr {

/// How a replica that is far behind catches up (paper 003, section 2.1, state transfer): asks what
/// the others have, then fetches the batches it lacks, or, where nobody has them any more, the
/// last stable checkpoint and the batches behind it. It begins again until nobody is further than
/// it by more than a few messages. Interrupted at any point, it goes on from what it has. Pure.
class StateTransfer {
 public:
  StateTransfer(ReplicaId me, const Authenticator& auth, std::uint64_t nonce,
                std::optional<PartialCheckpoint> partial, Time resend_interval);

  bool active() const { return phase_ != Phase::idle; }
  /// Asks everybody; again, if it is active already. `silent_until` as in StateRequest.
  void start(Time now, const Position& at, Instance silent_until, std::vector<Action>& out);

  /// Whether it is an answer to this life's last question. Offers of members and of others that
  /// are believed are kept.
  bool on_offer(Time now, ReplicaId from, const StateOffer& offer, const Position& at,
                std::vector<Action>& out);
  void on_manifest(Time now, ReplicaId from, const Manifest& manifest, std::vector<Action>& out);
  void on_chunk(Time now, ReplicaId from, const Chunk& chunk, std::vector<Action>& out);
  /// As LogFetch::on_suffix: the caller makes the batches its own, then calls `went_on`.
  std::vector<BatchPtr> on_suffix(Time now, ReplicaId from, const LogSuffix& suffix,
                                  const Position& at, std::vector<Action>& out);
  /// As LogFetch::keep and take_kept; none where batches are not fetched any more.
  void keep(Instance from, std::vector<BatchPtr> batches);
  std::vector<BatchPtr> take_kept(const Position& at);
  bool has_kept() const { return phase_ == Phase::log && log_->has_kept(); }
  /// Whoever was asked does not have it any more.
  void on_gone(Time now, ReplicaId from, const Gone& gone, const Position& at,
               std::vector<Action>& out);
  void went_on(Time now, const Position& at, std::vector<Action>& out);

  /// The service has become the checkpoint, or has not: the proof and the pieces' digests for
  /// Checkpoints::adopt, if it has. Call `went_on` after that.
  struct Loaded {
    CheckpointProof proof;
    std::vector<Digest> chunks;
  };
  std::optional<Loaded> on_loaded(const CheckpointLoaded& loaded, std::vector<Action>& out);

  /// Any word of it, an answer or not: it can be reached, perhaps once again. If nobody has
  /// answered, all are asked again soon.
  void heard(Time now, ReplicaId from);
  void tick(Time now, const Position& at, std::vector<Action>& out);
  std::optional<Time> next_deadline() const;

  /// Of the checkpoint that it fetches, in pieces; 0 of 0 if it fetches none.
  struct Fetched {
    std::uint32_t pieces = 0, of = 0;
  };
  Fetched fetched() const;

 private:
  enum class Phase { idle, asking, checkpoint, loading, log };

  void hurry(Time now);
  void give_up_log(Time now, const Position& at, std::vector<Action>& out);
  void choose(Time now, const Position& at, std::vector<Action>& out);
  void load_if_complete(std::vector<Action>& out);
  void fetch_checkpoint(Time now, const CheckpointProof& proof, const Position& at,
                        std::vector<Action>& out);
  bool has_log(ReplicaId from, const StateOffer& offer, const Position& at) const;
  /// Of what is being fetched.
  bool has_source(ReplicaId id) const;
  bool has_hope() const;
  bool is_fetching() const { return phase_ == Phase::log || phase_ == Phase::checkpoint; }
  /// Keeps the pieces.
  void forget_fetch();
  bool change_if_due(Time now, const Position& at, std::vector<Action>& out);
  void take_more(Time now, ReplicaId from, StateOffer offer, const Position& at,
                 std::vector<Action>& out);
  void ask_for_more_sources(const Position& at, std::vector<Action>& out) const;
  /// What can be proven to be decided, by what was offered.
  Instance reachable(const StateOffer& offer, const Position& at) const;

  const ReplicaId me_;
  const Authenticator& auth_;
  std::uint64_t nonce_;
  std::optional<PartialCheckpoint> partial_;
  const Time resend_interval_;
  /// What was learned of the ways to others stays, whatever is fetched next.
  Pace pace_;
  Phase phase_ = Phase::idle;
  Instance silent_until_ = 0;
  std::map<ReplicaId, StateOffer> offers_;
  std::optional<Time> answers_by_;
  unsigned rounds_ = 0;
  /// Offered batches and did not send them: a checkpoint is better than their word.
  std::set<ReplicaId> without_log_;
  /// Where this replica was when it began to fetch batches.
  Instance log_began_ = 0;
  std::optional<CheckpointFetch> checkpoint_;
  std::optional<LogFetch> log_;
  /// When something else is fetched that somebody has offered, if there is no hope for this until
  /// then.
  std::optional<Time> change_at_;
};

}  // namespace piracema::smr
