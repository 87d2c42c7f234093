#include "smr/order/messages/proofs.h"

#include <set>

#include "smr/order/messages/statements.h"

namespace piracema::smr {

bool signed_by(std::size_t wanted, const View& view, const Authenticator& auth, Bytes what,
               const std::vector<Signature>& signatures) {
  std::set<ReplicaId> signers;
  for (const Signature& signature : signatures) {
    if (signers.size() >= wanted) break;
    if (!view.has(signature.signer) || signers.count(signature.signer) != 0) continue;
    if (auth.verify(signature.signer, what, signature.bytes)) signers.insert(signature.signer);
  }
  return signers.size() >= wanted;
}

bool proven(const CheckpointProof& proof, const Authenticator& auth) {
  const View& view = proof.checkpoint.view;
  if (view.model == FaultModel::crash) return true;
  CheckpointVote vote;
  vote.instance = proof.checkpoint.instance;
  vote.digest = digest_of(proof.checkpoint);
  return signed_by(view.quorum(), view, auth, signed_bytes(vote), proof.signatures);
}

bool proven(const DecisionProof& proof, const View& view, const Authenticator& auth) {
  if (view.model == FaultModel::crash) return true;
  Milestone milestone;
  milestone.instance = proof.instance;
  milestone.history = proof.history;
  return signed_by(view.one_correct(), view, auth, signed_bytes(milestone), proof.signatures);
}

bool proven(const SignedView& next, const View& before, const Authenticator& auth) {
  if (next.view.id != before.id + 1 || next.view.model != before.model) return false;
  return signed_by(before.prove_next(), before, auth, signed_bytes(next.view), next.signatures);
}

}  // namespace piracema::smr
