#pragma once

#include <cmath>

#include "base/clock.h"

/// Numbers as the JSON of all pages and commands has them: as exact as they were measured, and
/// without digits that nobody has measured, which would be most of the text.
namespace piracema::observe {

/// To the nanosecond, which is as exact as our clocks are.
inline double json_seconds(Time time) { return to_seconds(time); }
inline double json_seconds(double seconds) { return std::round(seconds * 1e9) / 1e9; }
/// Seconds since 1970, to the millisecond.
inline double json_unix(double seconds) { return std::round(seconds * 1e3) / 1e3; }
/// Items, operations or bytes a second, to a tenth.
inline double json_rate(double per_second) { return std::round(per_second * 10) / 10; }

/// Parts of one, and other ratios.
inline double json_share(double share) { return std::round(share * 1e4) / 1e4; }

}  // namespace piracema::observe
