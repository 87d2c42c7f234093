#pragma once

#include "topology/trees/costs.h"

namespace piracema::coll {

/// No tree, and nothing else that sends whole messages, completes earlier. The larger of two
/// bounds: the longest of the shortest paths; and what can be reached when every rank could be
/// reached by its best link from anywhere, while senders are still busy.
double lower_bound(const Costs&, Rank root);

}  // namespace piracema::coll
