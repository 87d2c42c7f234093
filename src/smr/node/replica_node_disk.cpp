#include "base/log.h"
#include "base/text.h"
#include "smr/node/replica_node.h"

/// What a replica keeps: in memory, or on its disk.
namespace piracema::smr {

Result<Recovered> ReplicaNode::open_storage(const View& view) {
  return Recovered{view, std::nullopt, {}, false};
}

void ReplicaNode::act(TakeCheckpoint&) {
  execution_->take_checkpoint([this](Checkpoint checkpoint) {
    shelf_.put(checkpoint);
    inbox_.push_back(CheckpointTaken{checkpoint.info, checkpoint.digests});
  });
}

void ReplicaNode::act(Truncate& truncate) { shelf_.forget_before(truncate.instance); }

void ReplicaNode::act(SendChunk& send) {
  const auto chunk = shelf_.find(send.instance, send.chunk);
  if (chunk) send_now(send.to, message(Chunk{send.instance, send.chunk, chunk}));
}

void ReplicaNode::act(StoreChunk& store) {
  shelf_.put(store.checkpoint, store.chunk, std::move(store.bytes));
}

void ReplicaNode::act(LoadCheckpoint& load) {
  const Instance instance = load.checkpoint.instance;
  const auto image = shelf_.image(load.checkpoint);
  if (!image) {
    inbox_.push_back(CheckpointLoaded{instance, "a piece of it is missing"});
    return;
  }
  execution_->restore(instance, image, [this, instance](const Result<Done>& done) {
    inbox_.push_back(CheckpointLoaded{instance, done ? "" : done.error().message});
  });
}

}  // namespace piracema::smr
