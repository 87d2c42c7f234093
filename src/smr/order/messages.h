#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include "smr/ids.h"
#include "smr/request.h"
#include "smr/view.h"

/// What replicas say to each other; docs/design/006. Receivers trust nothing in them but who sent
/// them: links authenticate that.
namespace piracema::smr {

// ---- the normal case (paper 003, section 2.1.1: ordering) ----------------------------------

/// The leader of `regency` wants this batch at this place. `digest` is known by the batch.
struct Propose {
  Instance instance = 0;
  Regency regency = 0;
  BatchPtr batch;
};
/// Byzantine: the first valid proposal that the sender has had for this place in this regency.
struct Write {
  Instance instance = 0;
  Regency regency = 0;
  Digest digest{};
  auto fields() { return std::tie(instance, regency, digest); }
};
/// Byzantine: a quorum has written it. Crash: the sender's first valid proposal. A quorum decides.
struct Accept {
  Instance instance = 0;
  Regency regency = 0;
  Digest digest{};
  auto fields() { return std::tie(instance, regency, digest); }
};
/// Requests that have waited at the sender for too long: to everybody, before it asks for another
/// leader (paper 003, section 2.1.1), so that none can say that it never had them.
struct Forward {
  std::vector<Request> requests;
};
/// How far the sender is; from the leader that it lives. Answered with nothing.
struct Heartbeat {
  Regency regency = 0;
  Instance decided = 0;
  auto fields() { return std::tie(regency, decided); }
};

// ---- proofs --------------------------------------------------------------------------------

struct Signature {
  ReplicaId signer = 0;
  Buffer bytes;
  auto fields() { return std::tie(signer, bytes); }
};
/// A correct replica has decided all instances up to here, and what: `history` is the digest of
/// the history before and of the batch, again and again from the first. Byzantine: one_correct()
/// signatures over `signed_bytes(Milestone)`; crash: none, the word counts.
struct DecisionProof {
  Instance instance = 0;
  Digest history{};
  std::vector<Signature> signatures;
  auto fields() { return std::tie(instance, history, signatures); }
};
/// Byzantine: the sender has decided all up to here; every `milestone_interval` instances, so that
/// one signature serves for many instances.
struct Milestone {
  Instance instance = 0;
  Digest history{};
  Buffer signature;
  auto fields() { return std::tie(instance, history, signature); }
};

// ---- change of the leader (smr.md section 4, synchronisation) ------------------------------

/// The sender is ready to leave every regency below this one, or has left it.
struct Stop {
  ViewId view = 0;
  Regency regency = 0;
  /// To somebody who asked for what the sender already has; not answered in turn.
  bool answer = false;
  auto fields() { return std::tie(view, regency, answer); }
};
struct Vote {
  Regency regency = 0;
  Digest digest{};
  auto fields() { return std::tie(regency, digest); }
  bool operator==(const Vote&) const = default;
};
/// What the sender has done at one open place.
struct CollectEntry {
  Instance instance = 0;
  /// Byzantine: what a quorum wrote, as far as it knows, in the highest regency (valQ). Crash:
  /// what it accepted. Nothing is nullopt, which is below regency 0.
  std::optional<Vote> certified;
  /// Byzantine: each value it wrote, with the last regency in which it did (writeSet).
  std::vector<Vote> written;
  auto fields() { return std::tie(instance, certified, written); }
};
/// Where the sender stood when it entered `regency`; it votes in no older one after that. Signed
/// in Byzantine mode, as the leader passes it on.
struct Collect {
  ReplicaId from = 0;
  ViewId view = 0;
  Regency regency = 0;
  /// Crash: all that it has decided.
  DecisionProof proof;
  /// All places above `proof` where it has voted, ascending.
  std::vector<CollectEntry> entries;
  Buffer signature;
  auto fields() { return std::tie(from, view, regency, proof, entries, signature); }
};
/// To the leader of the new regency (STOPDATA).
struct StopData {
  Collect collect;
  auto fields() { return std::tie(collect); }
};
/// A quorum's collects. Whoever gets it computes from them what is bound at each place; the leader
/// then proposes those again.
struct Sync {
  ViewId view = 0;
  Regency regency = 0;
  std::vector<Collect> collects;
  auto fields() { return std::tie(view, regency, collects); }
};
/// Who has the batch with this digest? Answered with Batches.
struct FetchBatch {
  Instance instance = 0;
  Digest digest{};
  auto fields() { return std::tie(instance, digest); }
};
/// Checked by its digest against what was asked for.
struct FetchedBatch {
  Instance instance = 0;
  BatchPtr batch;
};

// ---- falling behind by a little ------------------------------------------------------------

/// The sender is stuck at the first place above `decided`: say again what you said about it, or
/// that it is decided.
struct Behind {
  Instance decided = 0;
  Regency regency = 0;
  auto fields() { return std::tie(decided, regency); }
};
/// The sender has decided this; with one_correct() equal ones it is. Followed by Propose or
/// FetchedBatch for who lacks the batch.
struct Decided {
  Instance instance = 0;
  Digest digest{};
  auto fields() { return std::tie(instance, digest); }
};

// ---- linearizable reads, crash faults ------------------------------------------------------

/// Does anybody know of a newer regency? The leader may answer reads once a quorum says no.
struct ConfirmLeader {
  Regency regency = 0;
  std::uint64_t round = 0;
  auto fields() { return std::tie(regency, round); }
};
struct LeaderConfirmed {
  Regency regency = 0;
  std::uint64_t round = 0;
  auto fields() { return std::tie(regency, round); }
};

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
/// The decided batches from here on; with `digests_only` what they are, not what is in them.
struct LogRequest {
  Instance from = 0;
  bool digests_only = false;
  auto fields() { return std::tie(from, digests_only); }
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

// ---- views ---------------------------------------------------------------------------------

/// The sender's signature under the next view, for clients and laggards of the old one.
struct ViewVote {
  View view;
  Buffer signature;
  auto fields() { return std::tie(view, signature); }
};
/// A view signed by a quorum of the one before.
struct SignedView {
  View view;
  std::vector<Signature> signatures;
  auto fields() { return std::tie(view, signatures); }
};

using Message =
    std::variant<Propose, Write, Accept, Forward, Heartbeat, Milestone, Stop, StopData, Sync,
                 FetchBatch, FetchedBatch, Behind, Decided, ConfirmLeader, LeaderConfirmed,
                 CheckpointVote, StateRequest, StateOffer, ManifestRequest, Manifest, ChunkRequest,
                 Chunk, LogRequest, LogSuffix, ViewVote, SignedView>;
/// Shared by all receivers of a broadcast; nobody changes it.
using MessagePtr = std::shared_ptr<const Message>;

template <class M>
MessagePtr message(M m) {
  return std::make_shared<const Message>(std::in_place_type<M>, std::move(m));
}

const char* name_of(const Message& message);

/// On the wire a message is `head` and then `body`. The body is shared with who made it: a batch
/// is encoded once, whoever gets it. Null if there is none.
struct EncodedMessage {
  Buffer head;
  std::shared_ptr<const Buffer> body;
};
EncodedMessage encode(const Message& message);

/// Errc::corrupt for what no correct replica of this version sends. Allocates no more than a small
/// multiple of `in`.
Result<MessagePtr> decode_message(Bytes in);

// ---- what is signed ------------------------------------------------------------------------

/// The statement of each kind, with a word in front that no other kind has: nobody's signature
/// under one can be passed off as one under another.
Buffer signed_bytes(const Collect& collect);
Buffer signed_bytes(const Milestone& milestone);
Buffer signed_bytes(const CheckpointVote& vote);
Buffer signed_bytes(const View& view);
/// What a CheckpointVote votes on.
Digest digest_of(const CheckpointInfo& checkpoint);

}  // namespace piracema::smr
