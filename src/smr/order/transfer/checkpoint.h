#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <memory>
#include <span>
#include <vector>

#include "smr/order/messages/messages.h"

namespace piracema::smr {

/// A service's state at one place in the order, in pieces that can be checked one by one.
struct Checkpoint {
  /// What the service knows: instance, state, bytes, chunk_bytes, chunk_count and time. The rest
  /// is the core's.
  CheckpointInfo info;
  std::vector<Digest> digests;
  std::vector<std::shared_ptr<const Buffer>> chunks;
};

/// Cuts bytes that come one after the other, and digests the pieces.
class CheckpointWriter {
 public:
  /// `chunk_bytes` from 1 to chunk_bytes_max; equal on all replicas.
  CheckpointWriter(Instance instance, std::uint64_t time, std::uint32_t chunk_bytes);

  void append(Bytes bytes);
  Checkpoint finish();

 private:
  void cut();

  Checkpoint checkpoint_;
  Buffer piece_;
};

/// The same of bytes that are all there.
Checkpoint make_checkpoint(Instance instance, std::uint64_t time, Bytes image,
                           std::uint32_t chunk_bytes);

/// CheckpointInfo::state: over the digests of all chunks, in order.
Digest digest_of_chunks(std::span<const Digest> chunks);

}  // namespace piracema::smr
