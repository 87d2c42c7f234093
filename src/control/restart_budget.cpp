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

void RestartBudget::failed(std::vector<Suspect> suspects, Blame blame) {
  failures_.push_back({std::move(suspects), blame == Blame::certain ? window_ : 0});
  if (failures_.size() > std::uint64_t{budget_} * remembered_per_budget)
    failures_.erase(failures_.begin());
}

std::optional<Suspect> RestartBudget::culprit() const {
  std::optional<Suspect> culprit;
  double least = 0;
  if (failures_.empty()) return culprit;
  const Failure& last = failures_.back();
  for (const Suspect& suspect : last.suspects) {
    std::uint32_t count = 0;
    double spread = 0;  // As a double, for it cannot overflow.
    Suspect first = suspect;
    for (const Failure& failure : failures_) {
      const Suspect* near = nearest(suspect, failure, std::min(last.window, failure.window));
      if (near == nullptr) continue;
      count += 1;
      spread += static_cast<double>(*distance_within(window_, suspect, *near));
      if (near->item < first.item) first = *near;
    }
    if (count < budget_ || (culprit && spread >= least)) continue;
    culprit = first;
    least = spread;
  }
  return culprit;
}

void RestartBudget::reset(const Suspect& culprit) {
  for (Failure& failure : failures_) {
    std::erase_if(failure.suspects, [&](const Suspect& suspect) {
      return distance_within(window_, culprit, suspect).has_value();
    });
  }
}

bool RestartBudget::is_of(std::uint32_t budget, std::uint64_t window, std::size_t nodes,
                          std::size_t replicas) const {
  for (const Failure& failure : failures_) {
    for (const Suspect& suspect : failure.suspects) {
      if (suspect.node >= nodes || suspect.replica >= replicas) return false;
    }
  }
  return budget_ == budget && window_ == window &&
         failures_.size() <= std::uint64_t{budget} * remembered_per_budget;
}

const Suspect* RestartBudget::nearest(const Suspect& one, const Failure& failure,
                                      std::uint64_t window) {
  const Suspect* nearest = nullptr;
  std::uint64_t least = 0;
  for (const Suspect& other : failure.suspects) {
    const auto away = distance_within(window, one, other);
    if (!away || (nearest != nullptr && *away >= least)) continue;
    nearest = &other;
    least = *away;
  }
  return nearest;
}

}  // namespace piracema::cluster
