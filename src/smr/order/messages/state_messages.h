#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "smr/order/messages/ordering_messages.h"
#include "smr/view.h"

/// What replicas say to agree on checkpoints, to fetch the state, and to change who they are
/// (messages.h).
namespace piracema::smr {

// ---- checkpoints and state transfer --------------------------------------------------------

constexpr std::size_t chunk_bytes_max = std::size_t{1} << 20;

/// One state of the service, and where in the order it is. Equal on all correct replicas.
struct CheckpointInfo {
  /// Executed up to here.
  Instance instance = 0;
  /// Of the decisions up to here, as in DecisionProof.
  Digest history{};
  /// Over the digests of all chunks, in order.
  Digest state{};
  std::uint64_t bytes = 0;
  std::uint32_t chunk_bytes = 0;
  std::uint32_t chunk_count = 0;
  /// The leader's clock in the batch at `instance`.
  std::uint64_t time = 0;
  /// Who takes part from here on, and what is to follow (Reconfiguration).
  View view;
  std::optional<View> next_view;
  Instance next_view_from = 0;
  auto fields() {
    return std::tie(instance, history, state, bytes, chunk_bytes, chunk_count, time, view,
                    next_view, next_view_from);
  }
};
/// "My state there has this digest", over all of CheckpointInfo.
struct CheckpointVote {
  Instance instance = 0;
  Digest digest{};
  Buffer signature;
  /// To somebody who still says it; not answered in turn.
  bool answer = false;
  auto fields() { return std::tie(instance, digest, signature, answer); }
};
/// A quorum has the same state there. Crash: no signatures.
struct CheckpointProof {
  CheckpointInfo checkpoint;
  std::vector<Signature> signatures;
  auto fields() { return std::tie(checkpoint, signatures); }
};
/// What can you give me? From a replica that is far behind, or that lost its disk.
struct StateRequest {
  std::uint64_t nonce = 0;
  Instance decided = 0;
  /// If above 0: the sender lost its disk and is silent until this is decided. A leader that has
  /// nothing to propose proposes empty batches up to here (at most view_delay above its own).
  Instance silent_until = 0;
  auto fields() { return std::tie(nonce, decided, silent_until); }
};
/// Not sent by a replica that lost its disk itself and is still silent.
struct StateOffer {
  std::uint64_t nonce = 0;
  ViewId view = 0;
  /// The highest that the sender has entered or said STOP for.
  Regency regency = 0;
  Instance decided = 0;
  /// The highest place at which the sender has voted: who lost its disk may have voted there too,
  /// and stays silent until that is decided.
  Instance voted = 0;
  /// The oldest batch that the sender still has.
  Instance log_from = 0;
  DecisionProof proof;
  std::optional<CheckpointProof> checkpoint;
  auto fields() {
    return std::tie(nonce, view, regency, decided, voted, log_from, proof, checkpoint);
  }
};
struct ManifestRequest {
  Instance instance = 0;
  auto fields() { return std::tie(instance); }
};
/// The digests of the chunks; they make up CheckpointInfo::state.
struct Manifest {
  Instance instance = 0;
  std::vector<Digest> chunks;
  auto fields() { return std::tie(instance, chunks); }
};
struct ChunkRequest {
  Instance instance = 0;
  std::uint32_t chunk = 0;
  auto fields() { return std::tie(instance, chunk); }
};
struct Chunk {
  Instance instance = 0;
  std::uint32_t chunk = 0;
  std::shared_ptr<const Buffer> bytes;
};
/// Of a checkpoint, or of the batches from there on: the sender does not have them any more. Said
/// at once, so that nobody waits for what does not come.
struct Gone {
  Instance instance = 0;
  /// The newest checkpoint that it has; 0 if none.
  Instance newest = 0;
  auto fields() { return std::tie(instance, newest); }
};
/// The decided batches from here on, of so many bytes, but one at least; with `digests_only` what
/// they are, not what is in them.
struct LogRequest {
  Instance from = 0;
  bool digests_only = false;
  std::uint32_t bytes = 4 << 20;
  auto fields() { return std::tie(from, digests_only, bytes); }
};
/// As many as fit a message. The receiver believes them up to `proof` if the history agrees with
/// it, and beyond where one_correct() replicas say the same digests.
struct LogSuffix {
  Instance from = 0;
  std::vector<Digest> digests;
  /// As many as digests, or none.
  std::vector<BatchPtr> batches;
  DecisionProof proof;
};

// ---- replicas whose states differ ----------------------------------------------------------

/// Of one Trail: more instances than may be ordered without a checkpoint, unless they are set to be
/// very far apart.
constexpr std::size_t trail_digests_max = 65'536;

/// What have your operations answered and left behind? A number for each instance from `first` to
/// `last`, or for each operation of `first`.
struct TrailRequest {
  Instance first = 0, last = 0;
  bool operations = false;
  auto fields() { return std::tie(first, last, operations); }
};
/// From `first` on: what the sender still knows. No proof of anything.
struct Trail {
  Instance first = 0;
  bool operations = false;
  std::vector<std::uint64_t> digests;
  auto fields() { return std::tie(first, operations, digests); }
};

// ---- views ---------------------------------------------------------------------------------

/// The sender's signature under the next view, for clients and laggards of the old one.
struct ViewVote {
  View view;
  Buffer signature;
  auto fields() { return std::tie(view, signature); }
};
/// A view signed by members of the one before (View::prove_next()).
struct SignedView {
  View view;
  std::vector<Signature> signatures;
  auto fields() { return std::tie(view, signatures); }
};

}  // namespace piracema::smr
