#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "smr/ids.h"
#include "smr/request.h"

/// What replicas say to order requests and to find out where the others are (messages.h).
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
/// How far the sender is; from the leader that it lives. Who is in a newer
/// view answers with its own; nobody else does.
struct Heartbeat {
  ViewId view = 0;
  Regency regency = 0;
  Instance decided = 0;
  auto fields() { return std::tie(view, regency, decided); }
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

/// Does anybody know of a newer view, or of a newer regency of this one? The leader may answer
/// reads once a quorum says no.
struct ConfirmLeader {
  ViewId view = 0;
  Regency regency = 0;
  std::uint64_t round = 0;
  auto fields() { return std::tie(view, regency, round); }
};
struct LeaderConfirmed {
  ViewId view = 0;
  Regency regency = 0;
  std::uint64_t round = 0;
  auto fields() { return std::tie(view, regency, round); }
};

}  // namespace piracema::smr
