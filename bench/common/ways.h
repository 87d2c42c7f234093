#pragma once

#include <string>
#include <utility>
#include <vector>

namespace piracema::bench {

/// By the name of a way to do the same work: nanoseconds that one of it took, in each round.
using Ways = std::vector<std::pair<std::string, std::vector<double>>>;

/// Median, least and most of each, a line each; or all rounds, as JSON.
void print(const Ways& ways, bool json);

}  // namespace piracema::bench
