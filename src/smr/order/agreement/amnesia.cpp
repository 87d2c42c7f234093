#include "smr/order/agreement/amnesia.h"

#include <algorithm>
#include <vector>

#include "smr/order/messages/settings.h"

namespace piracema::smr {

std::size_t Amnesia::needed(const View& view) {
  const std::size_t liars = view.model == FaultModel::byzantine && view.f > 0 ? view.f - 1 : 0;
  return view.n() - view.quorum() + 1 + liars;
}

void Amnesia::on_offer(ReplicaId from, const StateOffer& offer, const View& view) {
  if (!view.has(from) || offer.view != view.id) return;
  answers_.emplace(from, Fence{std::max(offer.voted, offer.decided), offer.regency});
}

// The smallest ones that are enough: an answer that is too high only costs time, and a liar could
// silence this replica for ever with it.
std::optional<Amnesia::Fence> Amnesia::fence(const View& view) const {
  const std::size_t count = needed(view);
  if (answers_.size() < count) return std::nullopt;
  std::vector<Instance> instances;
  std::vector<Regency> regencies;
  for (const auto& [who, answer] : answers_) {
    instances.push_back(answer.instance);
    regencies.push_back(answer.regency);
  }
  std::sort(instances.begin(), instances.end());
  std::sort(regencies.begin(), regencies.end());
  return Fence{instances[count - 1] + view_delay, regencies[count - 1]};
}

}  // namespace piracema::smr
