#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "smr/order/messages/ordering_messages.h"

/// What replicas say to change the leader (messages.h; smr.md section 4, synchronisation).
namespace piracema::smr {

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

}  // namespace piracema::smr
