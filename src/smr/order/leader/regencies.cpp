#include "smr/order/leader/regencies.h"

#include <algorithm>
#include <functional>

namespace piracema::smr {

bool Regencies::want(Regency regency) {
  if (regency <= wanted_) return false;
  wanted_ = regency;
  return true;
}

bool Regencies::heard(std::size_t member, Regency regency) {
  if (regency <= wanted_by_[member]) return false;
  wanted_by_[member] = regency;
  return true;
}

Regency Regencies::wanted_by_at_least(std::size_t members) const {
  if (members == 0 || members > wanted_by_.size()) return 0;
  auto sorted = wanted_by_;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  return sorted[members - 1];
}

std::optional<Regency> Regencies::to_join(std::size_t one_correct) const {
  const Regency regency = wanted_by_at_least(one_correct);
  if (regency <= wanted_) return std::nullopt;
  return regency;
}

std::optional<Regency> Regencies::to_enter(std::size_t quorum) const {
  const Regency regency = wanted_by_at_least(quorum);
  if (regency <= entered_) return std::nullopt;
  return regency;
}

void Regencies::enter(Regency regency) {
  entered_ = regency;
  wanted_ = std::max(wanted_, regency);
}

}  // namespace piracema::smr
