#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "base/random.h"
#include "base/text.h"
#include "smr/order/messages/batch.h"
#include "smr/replica/replica_node.h"

namespace piracema::testing {

/// Says other things than a replica would, in one way, or in `all`: equivocate, corrupt, silent,
/// replies.
class Liar {
 public:
  explicit Liar(const std::string& how) : how_(how) {}

  /// For the replica that is started there, which it outlives.
  void speak_for(smr::ReplicaNode::Place& place) {
    place.distort = [this](smr::ReplicaId to, const smr::MessagePtr& right) {
      return say(to, right);
    };
    place.distort_reply = [this](const smr::Reply& right) { return reply(right); };
  }

 private:
  smr::MessagePtr say(smr::ReplicaId to, const smr::MessagePtr& right) {
    if (does("silent") && random_.chance(0.3)) return nullptr;
    if (const auto* propose = std::get_if<smr::Propose>(right.get())) return twist(to, *propose);
    if (const auto* write = std::get_if<smr::Write>(right.get())) return twist(to, *write);
    if (const auto* accept = std::get_if<smr::Accept>(right.get())) return twist(to, *accept);
    if (const auto* forward = std::get_if<smr::Forward>(right.get())) return twist(*forward);
    return right;
  }

  smr::Reply reply(const smr::Reply& right) {
    if (!does("replies")) return right;
    smr::Reply wrong = right;
    wrong.result = std::make_shared<const Buffer>(as_bytes("a lie"));
    return wrong;
  }

  bool does(const char* what) const { return how_ == what || how_ == "all"; }

  // Two proposals for one place, one for each half; and votes that fit what each was told. Or one
  // whose requests nobody asked for: their MACs are wrong.
  smr::MessagePtr twist(smr::ReplicaId to, const smr::Propose& propose) {
    if (does("equivocate") && to % 2 == 1) {
      auto& other = others_[propose.batch->digest];
      if (!other) other = smr::make_batch(propose.batch->time + 1, propose.batch->requests);
      return smr::message(smr::Propose{propose.instance, propose.regency, other});
    }
    if (!does("corrupt") || propose.batch->requests.empty())
      return smr::message(smr::Propose(propose));
    auto& forged = others_[propose.batch->digest];
    if (!forged) {
      auto requests = propose.batch->requests;
      for (smr::Request& request : requests) corrupt(request);
      forged = smr::make_batch(propose.batch->time, std::move(requests));
    }
    return smr::message(smr::Propose{propose.instance, propose.regency, forged});
  }
  template <class V>
  smr::MessagePtr twist(smr::ReplicaId to, const V& vote) {
    const auto other = others_.find(vote.digest);
    if (other == others_.end() || (does("equivocate") && to % 2 == 0)) return smr::message(V(vote));
    return smr::message(V{vote.instance, vote.regency, other->second->digest});
  }
  smr::MessagePtr twist(const smr::Forward& forward) {
    smr::Forward lie = forward;
    for (smr::Request& request : lie.requests) corrupt(request);
    return smr::message(std::move(lie));
  }
  static void corrupt(smr::Request& request) {
    if (!request.operation.empty()) request.operation.data()[0] ^= std::byte{1};
  }

  const std::string how_;
  Random random_{1};
  std::map<smr::Digest, smr::BatchPtr> others_;
};

}  // namespace piracema::testing
