#include <set>
#include <tuple>
#include <utility>

#include "smr/client/client_engine.h"
#include "smr/order/messages/batch.h"
#include "smr/order/messages/messages.h"

/// What a client is told of the group: who leads, who the replicas are.
namespace piracema::smr {

void ClientEngine::new_standing(ReplicaId from, const Standing& standing) {
  told_[from] = standing;
  if (!view_.has(from)) return;
  if (byzantine_) {
    // A hint for people; requests go to all.
    if (!standing_ || from == standing.leader) standing_ = standing;
    return;
  }
  // Each view begins with regency 0.
  if (standing_ &&
      std::tie(standing.view, standing.regency) < std::tie(standing_->view, standing_->regency)) {
    return;
  }
  standing_ = standing;
  if (std::exchange(leader_, standing.leader) == standing.leader) return;
  each_asked([&](Asked& asked) { submit(asked); });
  for (const auto& [token, asked] : reads_) send_read(token, *asked);
}

// A view is believed if a quorum of the one that is known has signed it.
void ClientEngine::new_view(Bytes message) {
  const auto decoded = decode_message(message);
  const auto* signed_view = decoded ? std::get_if<SignedView>(decoded->get()) : nullptr;
  if (signed_view == nullptr || signed_view->view.id <= view_.id) return;
  const Buffer statement = signed_bytes(signed_view->view);
  std::set<ReplicaId> signers;
  for (const MemberInfo& member : view_.members) {
    const auto key = parse_public_key(member.public_key);
    for (const Signature& signature : signed_view->signatures) {
      if (signature.signer == member.id && key &&
          verify_signature(*key, statement, signature.bytes)) {
        signers.insert(member.id);
      }
    }
  }
  if (signers.size() < view_.quorum() || !prover_.use_members(signed_view->view.members).ok()) {
    return;
  }
  use_view(signed_view->view);
}

void ClientEngine::use_view(const View& view) {
  view_ = view;
  poller_.at(now(), [this] {  // Callers may go, and one of them has called.
    connect();
    each_asked([&](Asked& asked) {
      asked.tally.clear();
      prover_.prove(asked.request);
      asked.encoded.clear();
      encode(asked.request, asked.encoded);
    });
    resend_all();
    // Whoever has asked for a change looks what has come of it.
    std::vector<AskedPtr> changes;
    for (auto one = sessionless_.begin(); one != sessionless_.end();) {
      const bool is_change = one->second->request.kind == Kind::reconfigure;
      if (is_change) changes.push_back(std::move(one->second));
      one = is_change ? sessionless_.erase(one) : std::next(one);
    }
    for (AskedPtr& change : changes) finish(std::move(change), Buffer());
  });
}

}  // namespace piracema::smr
