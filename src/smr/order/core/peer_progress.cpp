#include "smr/order/core/peer_progress.h"

#include <algorithm>
#include <functional>

namespace piracema::smr {

void PeerProgress::told(std::size_t member, Instance decided) {
  decided_[member] = std::max(decided_[member], decided);
}

void PeerProgress::voted(std::size_t member, Instance instance) {
  voted_[member] = std::max(voted_[member], instance);
}

Instance PeerProgress::newest_of(std::size_t member) const {
  return std::max(decided_[member], voted_[member]);
}

Instance PeerProgress::reached_by(std::size_t members) const {
  auto sorted = decided_;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  return sorted[members - 1];
}

}  // namespace piracema::smr
