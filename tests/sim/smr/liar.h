#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.h"
#include "sim/smr/plan.h"
#include "smr/order/messages/messages.h"
#include "smr/order/transfer/checkpoint.h"
#include "smr/service/reply.h"

namespace piracema::smr_sim {

class World;

/// Stands between a core and its wires, and says something else. It has the keys of its replica
/// and no others; and all liars may act together, as they see the same world.
class Liar {
 public:
  Liar(World& world, smr::ReplicaId me, const smr::Authenticator& auth);

  /// In place of what the core wanted to send.
  void send(smr::ReplicaId to, const smr::MessagePtr& message);
  /// What it says besides when it hears something.
  void hear(smr::ReplicaId from, const smr::MessagePtr& message);
  /// Now and then, of its own accord.
  void act();
  /// What it answers to a client.
  smr::Reply reply(const smr::Reply& right);
  /// A SignedView that nobody else has signed.
  Buffer false_view() const;

 private:
  bool does(Lie lie) const { return (lies_ & lie) != 0; }
  void say(smr::ReplicaId to, smr::MessagePtr message);
  void say_to_all(const smr::MessagePtr& message);
  /// Its two faces: replicas to whom it says the one thing, and those to whom the other.
  bool other_face(smr::ReplicaId to) const { return (to % 2 == 1) != flipped_; }

  smr::MessagePtr twisted(smr::ReplicaId to, const smr::MessagePtr& message);
  smr::MessagePtr twist(smr::ReplicaId to, const smr::Propose& propose);
  /// Whether all replicas see the other batch, or only one half.
  bool all_see_other(const smr::Propose& propose);
  smr::MessagePtr twist(const smr::StopData& stop);
  smr::MessagePtr twist(const smr::Sync& sync);
  smr::MessagePtr twist(const smr::Chunk& chunk);
  smr::MessagePtr twist(const smr::LogSuffix& suffix);
  smr::MessagePtr twist(const smr::FetchedBatch& fetched);
  smr::MessagePtr twist(const smr::StateOffer& offer);
  smr::MessagePtr twist(const smr::Manifest& manifest);
  smr::MessagePtr twist(const smr::CheckpointVote& vote);
  /// What it says in place of a batch of the log, always the same; null for most.
  smr::BatchPtr false_batch(const smr::Digest& digest);
  /// The same checkpoint with another end, if its replica has it.
  const smr::Checkpoint* false_checkpoint(const smr::CheckpointInfo& info);
  /// All liars make up the same.
  smr::BatchPtr made_up(smr::Instance instance) const;
  smr::Request forged();
  smr::Digest nonsense();
  /// A batch that its own replica does not know of, in place of the one that it proposes.
  smr::BatchPtr other_batch(const smr::Batch& batch);

  World& world_;
  const smr::ReplicaId me_;
  const smr::Authenticator& auth_;
  const std::uint32_t lies_;
  Random random_;
  const bool flipped_;
  /// Digest of each batch that it proposes, and of what half of the replicas see in its place.
  std::map<smr::Digest, smr::BatchPtr> others_;
  /// Of those, the digests of which nobody sees the right one.
  std::set<smr::Digest> hidden_;
  /// Batches that went by.
  std::map<smr::Digest, smr::BatchPtr> batches_;
  std::map<smr::Instance, smr::Checkpoint> false_checkpoints_;
  /// By how much the time of its batches is wrong.
  std::int64_t clock_ahead_ = 0;
  /// What others voted for.
  std::set<std::pair<smr::Instance, smr::Digest>> voted_;
  /// Whom it has told that it thinks the same.
  std::set<std::tuple<smr::Instance, smr::Digest, smr::ReplicaId>> answered_;
  std::deque<smr::MessagePtr> heard_;
  /// Of each replica the first that it signed.
  std::map<smr::ReplicaId, smr::Collect> old_collects_;
  smr::Regency regency_ = 0;
};

}  // namespace piracema::smr_sim
