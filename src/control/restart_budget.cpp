#include "control/restart_budget.h"

#include <algorithm>
#include <utility>

namespace piracema::cluster {

namespace {

// Enough for a farm in which many replicas each have an item of their own that fails.
constexpr std::size_t remembered_per_budget = 32;

std::optional<std::uint64_t> distance_within(std::uint64_t window, const Suspect& a,
                                             const Suspect& b) {
  if (a.node != b.node || a.item.has_value() != b.item.has_value()) return std::nullopt;
  if (!a.item) return 0;
  const std::uint64_t distance = *a.item < *b.item ? *b.item - *a.item : *a.item - *b.item;
  if (distance > window) return std::nullopt;
  return distance;
}

}  // namespace

void RestartBudget::failed(std::vector<Suspect> suspects) {
  failures_.push_back(std::move(suspects));
  if (failures_.size() > budget_ * remembered_per_budget) failures_.erase(failures_.begin());
}

std::optional<Suspect> RestartBudget::culprit() const {
  std::optional<Suspect> culprit;
  double least = 0;
  if (failures_.empty()) return culprit;
  for (const Suspect& suspect : failures_.back()) {
    std::uint32_t count = 0;
    double spread = 0;  // As a double, for it cannot overflow.
    for (const auto& failure : failures_) {
      if (const auto away = distance(suspect, failure)) {
        count += 1;
        spread += static_cast<double>(*away);
      }
    }
    if (count < budget_ || (culprit && spread >= least)) continue;
    culprit = suspect;
    least = spread;
  }
  return culprit;
}

void RestartBudget::reset(const Suspect& culprit) {
  for (auto& failure : failures_) {
    const auto near = [&](const Suspect& suspect) {
      return distance_within(window_, culprit, suspect).has_value();
    };
    failure.erase(std::remove_if(failure.begin(), failure.end(), near), failure.end());
  }
}

std::optional<std::uint64_t> RestartBudget::distance(const Suspect& one,
                                                     const std::vector<Suspect>& suspects) const {
  std::optional<std::uint64_t> least;
  for (const Suspect& other : suspects) {
    const auto away = distance_within(window_, one, other);
    if (away && (!least || *away < *least)) least = away;
  }
  return least;
}

}  // namespace piracema::cluster
