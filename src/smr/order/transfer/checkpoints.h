#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "smr/order/agreement/divergence.h"

namespace piracema::smr {

/// A checkpoint is also due when so many bytes were ordered since one was due before: what follows
/// a checkpoint is kept in memory for those who fall behind. Of a large state one is taken at some
/// of these places alone (CheckpointSpacing).
constexpr std::size_t checkpoint_bytes = std::size_t{64} << 20;
/// Checkpoints that were due and are not stable: with so many of them nothing further than
/// view_delay above the last of these is ordered, so that what is kept since the stable one is
/// bounded, on disk and in memory (the high water mark of Castro & Liskov, OSDI 1999, section 4.3).
constexpr std::size_t unstable_checkpoints_max = 4;
/// Nobody has asked for anything of a checkpoint for so long: it need not be kept for him.
constexpr std::chrono::seconds fetch_silence_max{30};
/// For somebody who still fetches an older checkpoint, so much is kept behind it: as many bytes as
/// it has itself, or checkpoint_bytes if that is more, and so many batches.
constexpr Instance kept_for_fetch_max = 65'536;
/// Votes of one member on different checkpoints that are kept; more are of no use.
constexpr std::size_t checkpoint_votes_kept = 2 * unstable_checkpoints_max;

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
  /// The service is a checkpoint that was stable somewhere, at `instance`: after a restart or a
  /// transfer. What follows is due as it is for those who came there batch by batch.
  void restart_after(Instance instance);
  /// Whether one is due after this batch: a function of the order alone, so equal everywhere. Told
  /// of every batch, once, in order. Then `begin` follows.
  bool due(Instance instance, std::size_t batch_bytes);
  /// TakeCheckpoint; `taken` or `skipped` follows, unless others have a newer one.
  void begin(Place place, std::vector<Action>& out);
  /// The service has made it: votes.
  void taken(Time now, const CheckpointInfo& info, std::vector<Digest> chunks,
             std::vector<Action>& out);
  /// By the state nobody takes one there: it is not waited for.
  void skipped(Instance instance);
  /// May make one stable: CheckpointStable, Truncate. Or find that replicas have `parted`.
  void on_vote(ReplicaId from, const CheckpointVote& vote, std::vector<Action>& out);
  /// Says again what may have been lost.
  void tick(Time now, std::vector<Action>& out);
  std::optional<Time> next_deadline() const;

  /// Stable somewhere else, and now the service's state: after a restart or a transfer.
  void adopt(CheckpointProof proof, std::vector<Digest> chunks);

  /// The stable checkpoint of `from`, with a good proof. If this replica has come there by itself
  /// it is stable here too: the votes of others may have been lost, or never been meant for it.
  void prove(ReplicaId from, const CheckpointProof& proof, std::vector<Action>& out);

  /// A quorum has a checkpoint there: nobody needs an older one, so a replica that comes by the log
  /// takes none before it, and waits for none.
  void stable_elsewhere(Instance instance);

  /// Whether this replica does not know yet that a quorum has a checkpoint there.
  bool is_news(Instance instance) const { return instance > elsewhere_ || could_prove(instance); }

  /// Somebody fetches the checkpoint at `instance`, or what follows it. At most one older than the
  /// stable one is kept for those who do, and for a bounded time (kept_from).
  void fetched(Time now, ReplicaId by, Instance instance);
  /// The stable checkpoint is offered to a replica, and kept for it likewise, unless it fetches
  /// another one that is still here: who only asks what there is has not given that up.
  void offered(Time now, ReplicaId to);
  /// Somebody who is at `decided` goes on by the batches behind that: those behind the last
  /// checkpoint before it are kept likewise.
  void follows(Time now, ReplicaId who, Instance decided);
  /// What follows this is needed: by whoever fetches an older checkpoint, or else after the stable
  /// one. 0 if none is stable.
  Instance kept_from() const;

  const std::optional<CheckpointProof>& stable() const { return stable_; }
  /// The newest place where a quorum is known to have a checkpoint; 0 if none.
  Instance stable_anywhere() const {
    return std::max(elsewhere_, stable_ ? stable_->checkpoint.instance : 0);
  }
  /// Set once a quorum has another state than this replica, or once no state can have a quorum any
  /// more: whoever is correct and does as the others do has the same.
  const std::optional<Parted>& parted() const { return parted_; }
  /// Nothing above it is to be ordered before another checkpoint is stable.
  Instance horizon() const;
  /// Digests of the pieces of a checkpoint that this replica keeps; null for others.
  const std::vector<Digest>* manifest(Instance instance) const;
  /// The last place at which so many members say that they have a checkpoint; 0 if none.
  Instance reached_by(std::size_t members) const;

 private:
  struct Own {
    CheckpointInfo info;
    std::vector<Digest> chunks;
    CheckpointVote vote;
    /// Of all batches that this replica was told of, up to there.
    std::uint64_t bytes_before = 0;
  };
  /// What somebody fetches.
  struct Fetch {
    Instance instance = 0;
    Time asked{};
  };

  bool is_waited_for(Instance instance) const;
  bool could_prove(Instance instance) const {
    return own_.contains(instance) && (!stable_ || instance > stable_->checkpoint.instance);
  }
  CheckpointVote make_vote(const CheckpointInfo& info) const;
  void send_vote(const CheckpointVote& vote, std::vector<Action>& out) const;
  /// Members whose vote at `instance` is another one than this replica's.
  std::vector<ReplicaId> others_at(Instance instance) const;
  void settle(Instance instance, std::vector<Action>& out);
  bool is_fetched(Instance instance) const;
  void choose_kept(Instance before, Instance stable);
  void make_stable(CheckpointProof proof, std::vector<Action>& out);

  const ReplicaId me_;
  const FaultModel model_;
  const Authenticator& auth_;
  const Instance interval_;
  const Time resend_interval_;
  Instance elsewhere_ = 0;
  /// Of the last one that was due, and of all above the stable one.
  Instance last_due_ = 0;
  std::deque<Instance> unstable_;
  std::size_t bytes_since_ = 0, bytes_due_ = 0;
  std::uint64_t bytes_in_all_ = 0;
  /// Under way in the service.
  std::map<Instance, Place> begun_;
  /// Taken and not yet stable, and the stable one.
  std::map<Instance, Own> own_;
  /// By member, then by instance: the first one counts.
  std::map<ReplicaId, std::map<Instance, CheckpointVote>> votes_;
  std::optional<CheckpointProof> stable_;
  /// By who fetches. Only replicas that are known ask.
  std::map<ReplicaId, Fetch> fetches_;
  /// Older than the stable one, and kept for them.
  std::optional<Instance> kept_;
  Time now_{};
  std::optional<Parted> parted_;
  std::optional<Time> resend_at_;
};

}  // namespace piracema::smr
