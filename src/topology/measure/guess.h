#pragma once

#include "topology/trees/costs.h"

namespace piracema::coll {

/// Links with a guess of their bandwidth, where that was not measured: the median of what was
/// measured on others as near or as far (0.2 ms is between), else 1 GB/s and 100 MB/s.
void guess_bandwidth(LinkTable&);

}  // namespace piracema::coll
