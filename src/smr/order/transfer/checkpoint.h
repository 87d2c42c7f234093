#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "smr/order/messages/messages.h"

namespace piracema::smr {

/// Whether the pieces of a checkpoint lie in memory, all of them, or are made once more when they
/// are wanted: of a state that is large.
enum class Pieces { kept, made_again };

/// A service's state at one place in the order, in pieces that can be checked one by one.
struct Checkpoint {
  using Use = std::function<void(Bytes piece)>;

  /// What the service knows: instance, state, bytes, chunk_bytes, chunk_count and time. The rest
  /// is the core's.
  CheckpointInfo info;
  std::vector<Digest> digests;
  /// Empty where they are made again.
  std::vector<std::shared_ptr<const Buffer>> chunks;
  std::function<void(const Use&)> make_again = {};
  /// Of these: checksums (XXH3) by which it is seen, sooner than by digests, that they are the same
  /// again.
  std::vector<std::uint64_t> checksums = {};

  /// Each piece in turn.
  void each_piece(const Use& use) const;
};

/// Cuts bytes that come one after the other into pieces.
class PieceCutter {
 public:
  /// `chunk_bytes` from 1 to chunk_bytes_max; equal on all replicas.
  PieceCutter(std::uint32_t chunk_bytes, std::function<void(Buffer)> cut);

  void append(Bytes bytes);
  /// The last piece may be shorter.
  void finish();

 private:
  const std::uint32_t chunk_bytes_;
  const std::function<void(Buffer)> cut_;
  Buffer piece_;
};

/// Makes a checkpoint of bytes that `write` gives, the same each time it is called.
using WriteImage = std::function<void(const Checkpoint::Use&)>;
Checkpoint make_checkpoint(Instance instance, std::uint64_t time, std::uint32_t chunk_bytes,
                           WriteImage write, Pieces pieces);
/// The same of bytes that are all there.
Checkpoint make_checkpoint(Instance instance, std::uint64_t time, Bytes image,
                           std::uint32_t chunk_bytes);

/// CheckpointInfo::state: over the digests of all chunks, in order.
Digest digest_of_chunks(std::span<const Digest> chunks);

}  // namespace piracema::smr
