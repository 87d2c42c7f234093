#include "coll/plan/addresses.h"

#include <algorithm>
#include <set>
#include <utility>

namespace piracema::coll {

namespace {

bool has(const std::vector<HostAddress>& host, std::uint32_t address) {
  return std::any_of(host.begin(), host.end(),
                     [&](const HostAddress& one) { return one.address == address; });
}

}  // namespace

std::optional<std::uint32_t> choose_address(const std::vector<HostAddress>& own,
                                            const std::vector<std::vector<HostAddress>>& others,
                                            const Route& route) {
  const auto shared = [&](std::uint32_t address) {
    const auto having = std::count_if(others.begin(), others.end(),
                                      [&](const auto& host) { return has(host, address); });
    return having + (has(own, address) ? 1 : 0) > 1;
  };
  // For each address of ours: hosts that are reached from it, and hosts in its own network.
  std::vector<std::pair<std::size_t, std::size_t>> votes(own.size());
  for (const auto& host : others) {
    std::set<std::size_t> from, beside;
    for (const HostAddress& to : host) {
      if (to.address == 0 || shared(to.address)) continue;
      const std::uint32_t source = route(to.address);
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (own[i].address == 0 || shared(own[i].address)) continue;
        if (source == own[i].address) from.insert(i);
        if (((to.address ^ own[i].address) & own[i].mask) == 0) beside.insert(i);
      }
    }
    for (const std::size_t i : from) votes[i].first += 1;
    for (const std::size_t i : beside) votes[i].second += 1;
  }
  const auto best = std::max_element(votes.begin(), votes.end());
  if (best == votes.end() || best->first == 0) return std::nullopt;
  return own[static_cast<std::size_t>(best - votes.begin())].address;
}

}  // namespace piracema::coll
