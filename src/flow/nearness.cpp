#include "flow/nearness.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace piracema::flow {

namespace {

// Not measured. It takes several ways from process to process to make up for one between hosts, and
// several of those for one between sites.
constexpr double process_cost = 1, host_cost = 10, site_cost = 100;

}  // namespace

Nearness::Nearness(const std::vector<Location>& locations, std::uint32_t slots) : slots_(slots) {
  const auto part_of = [&](std::uint32_t Location::*part) -> PlaceOf {
    return [&locations, part](std::uint32_t slot) {
      return slot < locations.size() ? std::pair(false, locations[slot].*part)
                                     : std::pair(true, slot);
    };
  };
  add([](std::uint32_t slot) { return std::pair(true, slot); }, process_cost);
  if (locations.empty()) return;
  add(part_of(&Location::host), host_cost);
  add(part_of(&Location::site), site_cost);
}

// `cost`: of an item that leaves such a place, and no larger one.
void Nearness::add(const PlaceOf& place_of, double cost) {
  std::map<std::pair<bool, std::uint32_t>, std::uint32_t> numbers;
  Level level{{}, 0, cost - cost_};
  for (std::uint32_t slot = 0; slot < slots_; ++slot) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    level.place_of.push_back(numbers.try_emplace(place_of(slot), next).first->second);
  }
  level.places = static_cast<std::uint32_t>(numbers.size());
  if (level.places == 1) return;
  cost_ = cost;
  levels_.push_back(std::move(level));
}

double Nearness::between(std::uint32_t a, std::uint32_t b) const {
  double saved = 0;
  for (const Level& level : levels_) {
    if (level.place_of[a] == level.place_of[b]) saved += level.saves;
  }
  return saved;
}

std::vector<std::uint32_t> Nearness::in_order() const {
  std::vector<std::uint32_t> order(slots_);
  std::iota(order.begin(), order.end(), 0);
  for (const Level& level : levels_) {
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return level.place_of[a] < level.place_of[b];
    });
  }
  return order;
}

}  // namespace piracema::flow
