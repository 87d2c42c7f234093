#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "smr/order/messages/actions.h"
#include "smr/order/messages/batch.h"
#include "smr/order/messages/digest.h"
#include "smr/order/transfer/checkpoint.h"

/// What the tests of checkpoints, state transfer and reconfiguration share.
namespace piracema::smr {

/// A signature is the signer's number and the digest of what it signed.
class StateKeys : public Authenticator {
 public:
  explicit StateKeys(ReplicaId me) : me_(me) {}
  bool verify(const Request&) const override { return true; }
  Buffer sign(Bytes what) const override { return by(me_, what); }
  bool verify(ReplicaId signer, Bytes what, Bytes signature) const override {
    return as_text(by(signer, what)) == as_text(signature);
  }
  static Buffer by(ReplicaId signer, Bytes what) {
    const Digest digest = digest_of(what);
    Buffer out(as_bytes(std::to_string(signer) + " "));
    out.append(digest.data(), digest.size());
    return out;
  }

 private:
  ReplicaId me_;
};

inline View state_view(FaultModel model, std::uint32_t n, ViewId id = 0) {
  View view{.id = id, .model = model};
  view.f = (n - 1) / (model == FaultModel::byzantine ? 3 : 2);
  for (ReplicaId i = 0; i < n; ++i) view.members.push_back({i, "host:" + std::to_string(i), ""});
  return view;
}

template <class A>
std::vector<A> all_of(const std::vector<Action>& actions) {
  std::vector<A> found;
  for (const Action& action : actions) {
    if (const A* one = std::get_if<A>(&action)) found.push_back(*one);
  }
  return found;
}

/// Messages of one kind that were sent, with who they go to.
template <class M>
std::vector<std::pair<ReplicaId, M>> sent(const std::vector<Action>& actions) {
  std::vector<std::pair<ReplicaId, M>> found;
  for (const Send& send : all_of<Send>(actions)) {
    if (const M* m = std::get_if<M>(&*send.message)) found.emplace_back(send.to, *m);
  }
  return found;
}

inline Digest some_digest(std::string_view text) { return digest_of(as_bytes(text)); }

/// A proof that these members have signed, whatever it says.
inline CheckpointProof signed_checkpoint(CheckpointInfo info, const std::vector<ReplicaId>& by) {
  CheckpointVote vote;
  vote.instance = info.instance;
  vote.digest = digest_of(info);
  CheckpointProof proof{std::move(info), {}};
  for (const ReplicaId id : by) {
    proof.signatures.push_back({id, StateKeys::by(id, signed_bytes(vote))});
  }
  return proof;
}

inline DecisionProof signed_decision(Instance instance, const Digest& history,
                                     const std::vector<ReplicaId>& by) {
  Milestone milestone;
  milestone.instance = instance;
  milestone.history = history;
  DecisionProof proof{instance, history, {}};
  for (const ReplicaId id : by) {
    proof.signatures.push_back({id, StateKeys::by(id, signed_bytes(milestone))});
  }
  return proof;
}

}  // namespace piracema::smr
