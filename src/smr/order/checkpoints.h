#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "smr/order/actions.h"

namespace piracema::smr {

/// A checkpoint is also due when so many bytes were ordered since the last one: what follows a
/// checkpoint is kept in memory for those who fall behind.
constexpr std::size_t checkpoint_bytes = std::size_t{64} << 20;
/// Votes of one member on different checkpoints that are kept; more are of no use.
constexpr std::size_t checkpoint_votes_kept = 4;

/// When to take checkpoints, and which of them everybody has: a checkpoint is stable once a quorum
/// of its view says that it has the same state there (Castro & Liskov, OSDI 1999, section 4.3; the
/// checkpoints of paper 003, section 2.1). Then older ones and the log before it may go. Pure.
class Checkpoints {
 public:
  Checkpoints(ReplicaId me, FaultModel model, const Authenticator& auth, Instance interval,
              Time resend_interval);

  /// The place after which a batch was handed out to be executed, and what the core knows about it.
  struct Place {
    Instance instance = 0;
    Digest history{};
    std::uint64_t time = 0;
    View view;
    std::optional<View> next_view;
    Instance next_view_from = 0;
  };
  /// Whether one is due after this batch: a function of the order alone, so equal everywhere. Told
  /// of every batch, once, in order. Then `begin` follows.
  bool due(Instance instance, std::size_t batch_bytes);
  /// TakeCheckpoint.
  void begin(Place place, std::vector<Action>& out);
  /// The service has made it: votes.
  void taken(Time now, const CheckpointInfo& info, std::vector<Digest> chunks,
             std::vector<Action>& out);
  /// May make one stable: CheckpointStable, Truncate. Or, if a quorum has another state than this
  /// replica, Halt.
  void on_vote(ReplicaId from, const CheckpointVote& vote, std::vector<Action>& out);
  /// Says again what may have been lost.
  void tick(Time now, std::vector<Action>& out);
  std::optional<Time> next_deadline() const;

  /// Stable somewhere else, and now the service's state: after a restart or a transfer.
  void adopt(CheckpointProof proof, std::vector<Digest> chunks);

  const std::optional<CheckpointProof>& stable() const { return stable_; }
  /// Digests of the pieces of a checkpoint that this replica keeps; null for others.
  const std::vector<Digest>* manifest(Instance instance) const;
  /// The last place at which so many members say that they have a checkpoint; 0 if none.
  Instance reached_by(std::size_t members) const;

 private:
  struct Own {
    CheckpointInfo info;
    std::vector<Digest> chunks;
    CheckpointVote vote;
  };

  CheckpointVote make_vote(const CheckpointInfo& info) const;
  void send_vote(const CheckpointVote& vote, std::vector<Action>& out) const;
  std::string where_it_was_the_same() const;
  void settle(Instance instance, std::vector<Action>& out);

  const ReplicaId me_;
  const FaultModel model_;
  const Authenticator& auth_;
  const Instance interval_;
  const Time resend_interval_;
  /// Of the last one that was due.
  Instance last_due_ = 0;
  std::size_t bytes_since_ = 0;
  /// Under way in the service.
  std::map<Instance, Place> begun_;
  /// Taken and not yet stable, and the stable one.
  std::map<Instance, Own> own_;
  /// By member, then by instance: the first one counts.
  std::map<ReplicaId, std::map<Instance, CheckpointVote>> votes_;
  std::optional<CheckpointProof> stable_;
  std::optional<Time> resend_at_;
};

}  // namespace piracema::smr
