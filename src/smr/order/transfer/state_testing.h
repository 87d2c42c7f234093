#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "smr/order/agreement/decided_log.h"
#include "smr/order/messages/actions.h"
#include "smr/order/messages/batch.h"
#include "smr/order/messages/digest.h"
#include "smr/order/messages/statements.h"
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

// What the others have: the same order, one checkpoint, the batches behind it.
struct Others {
  Others(FaultModel fault_model, Instance checkpoint_at, Instance decided_to,
         std::size_t state_bytes)
      : model(fault_model), view(state_view(model, model == FaultModel::byzantine ? 4 : 3)) {
    log.restart_after(checkpoint_at);
    for (Instance i = 1; i <= decided_to; ++i) {
      batches.push_back(make_batch(i, {}));
      histories.push_back(digest_of(histories.back(), batches.back()->digest));
      if (i > checkpoint_at) log.add(i, batches.back());
    }
    Buffer image;
    for (std::size_t i = 0; i < state_bytes; ++i) {
      *image.extend(1) = static_cast<std::byte>(i * 7 + i / 256);
    }
    checkpoint = make_checkpoint(checkpoint_at, 5, image, 100);
    checkpoint.info.history = histories[checkpoint_at];
    checkpoint.info.view = view;
    proof = signed_checkpoint(checkpoint.info, {1, 2, 3});
    decision = signed_decision(decided_to, histories[decided_to], {1, 2});
  }
  Instance end() const { return batches.size(); }

  // What a correct replica answers.
  MessagePtr answer(const Message& question) const {
    if (const auto* m = std::get_if<StateRequest>(&question)) {
      StateOffer offer;
      offer.nonce = m->nonce;
      offer.decided = offer.voted = end();
      offer.log_from = log.first();
      offer.proof = decision;
      if (checkpoint.info.instance != 0) offer.checkpoint = proof;
      return message(offer);
    }
    if (std::holds_alternative<ManifestRequest>(question)) {
      return message(Manifest{checkpoint.info.instance, checkpoint.digests});
    }
    if (const auto* m = std::get_if<ChunkRequest>(&question)) {
      return message(Chunk{m->instance, m->chunk, checkpoint.chunks[m->chunk]});
    }
    if (const auto* m = std::get_if<LogRequest>(&question)) {
      LogSuffix suffix = log.suffix(*m);
      suffix.proof = decision;
      return message(suffix);
    }
    return nullptr;
  }

  FaultModel model;
  View view;
  std::vector<BatchPtr> batches;
  std::vector<Digest> histories{Digest{}};
  DecidedLog log;
  Checkpoint checkpoint;
  CheckpointProof proof;
  DecisionProof decision;
};

}  // namespace piracema::smr
