#pragma once

#include <map>
#include <memory>
#include <vector>

#include "smr/order/transfer/checkpoint.h"

namespace piracema::smr {

/// Checkpoints in memory, for a group whose replicas keep nothing on disk. One thread.
class Shelf {
 public:
  using Chunk = std::shared_ptr<const Buffer>;

  void put(const Checkpoint& checkpoint);
  /// Of a checkpoint that comes from others, piece by piece.
  void put(const CheckpointInfo& checkpoint, std::uint32_t number, Chunk chunk);
  /// Null if it is not there.
  Chunk find(Instance instance, std::uint32_t number) const;
  /// All pieces one behind the other; null if one is missing.
  Chunk image(const CheckpointInfo& checkpoint) const;
  /// Older ones than this, but for the one at `kept`.
  void forget_before(Instance instance, Instance kept = 0);

 private:
  std::map<Instance, std::vector<Chunk>> checkpoints_;
};

}  // namespace piracema::smr
