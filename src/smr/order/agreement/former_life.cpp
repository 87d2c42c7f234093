#include "smr/order/agreement/former_life.h"

#include <algorithm>

namespace piracema::smr {

void FormerLife::builds_on(Instance instance) { builds_on_ = std::max(builds_on_, instance); }

std::optional<Instance> FormerLife::doubt(Instance decided) {
  if (builds_on_ <= decided || !remembered_) return std::nullopt;
  remembered_ = false;
  return builds_on_;
}

void FormerLife::on_offer(ReplicaId from, const StateOffer& offer, const View& view) {
  amnesia_.on_offer(from, offer, view);
}

void FormerLife::remember(Instance instance) {
  remembered_ = true;
  votes_above_ = instance;
}

void FormerLife::begin_view() {
  leads_from_ = 0;
  if (!remembered_) amnesia_.forget();
}

}  // namespace piracema::smr
