#pragma once

#include <piracema/error.h>

#include <string_view>

#include "topology/trees/costs.h"

namespace piracema::coll {

/// Links as a file has them, for the emulator: one line for a pair, or for groups of ranks.
///
///     # from to latency [time for a megabyte]
///     0-3 4-7 485.4ms
///     4 6 9999ms
///     all all 1ms 10ms
///
/// Links are the same both ways; a later line overrides an earlier one; a link without a line costs
/// nothing. Errc::config with the number of the line.
Result<LinkTable> parse_delays(std::string_view text, Rank size);

}  // namespace piracema::coll
