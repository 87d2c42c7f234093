#pragma once

#include <vector>

#include "topology/trees/costs.h"

namespace piracema::coll {

/// The site of each rank, numbered from 0 in the order of their lowest ranks. Learnt from the
/// costs: links of a minimum spanning tree fall into near and far ones where they differ most, if
/// that is `site_factor` times at least; near ones keep ranks together. Else all are one site.
std::vector<std::uint32_t> find_sites(const Costs&);
constexpr double site_factor = 4;

/// Hosts from links that are nearer still, within a site: the same, applied to each site.
std::vector<std::uint32_t> find_hosts(const Costs&, const std::vector<std::uint32_t>& site_of);

}  // namespace piracema::coll
