#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace piracema::linearizability {

/// Where the operations of one key may have led: a state, which of those that are under way have
/// happened (a bit for the place of each), and which of those that will never be answered.
template <class State>
struct World {
  State state{};
  std::uint64_t taken = 0;
  /// Ascending.
  std::vector<std::uint32_t> spent;
  bool operator==(const World&) const = default;
};

/// Worlds that differ in what can still come of them. Of two that differ in `spent` alone, one of
/// which has spent all that the other one has, and more, only the other one is kept: what is
/// open need not happen, so it can do all that the first can.
template <class Model>
class PossibleWorlds {
 public:
  using One = World<typename Model::State>;

  /// False if it is here already, or a better one.
  bool add(const One& world) {
    auto& alternatives = worlds_[{world.state, world.taken}];
    for (const auto& spent : alternatives) {
      if (std::includes(world.spent.begin(), world.spent.end(), spent.begin(), spent.end())) {
        return false;
      }
    }
    std::erase_if(alternatives, [&](const auto& spent) {
      return std::includes(spent.begin(), spent.end(), world.spent.begin(), world.spent.end());
    });
    alternatives.push_back(world.spent);
    count_ += 1;
    return true;
  }
  /// How often `add` was true: never less than there are.
  std::size_t count() const { return count_; }

  std::vector<One> all() const {
    std::vector<One> all;
    for (const auto& [place, alternatives] : worlds_) {
      for (const auto& spent : alternatives) all.push_back({place.state, place.taken, spent});
    }
    return all;
  }

 private:
  struct Place {
    typename Model::State state{};
    std::uint64_t taken = 0;
    bool operator==(const Place&) const = default;
  };
  struct HashPlace {
    std::size_t operator()(const Place& place) const {
      const std::uint64_t mixed = (Model::hash(place.state) ^ place.taken) * 0x9E3779B97F4A7C15u;
      return mixed ^ (mixed >> 29);
    }
  };
  std::unordered_map<Place, std::vector<std::vector<std::uint32_t>>, HashPlace> worlds_;
  std::size_t count_ = 0;
};

}  // namespace piracema::linearizability
