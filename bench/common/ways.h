#pragma once

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bench/common/keyed_rounds.h"

namespace piracema::bench {

/// By the name of a way to do the same work: nanoseconds that one of it took, in each round.
using Ways = std::vector<std::pair<std::string, std::vector<double>>>;

/// Median, least and most of each, a line each; or all rounds, as JSON.
inline void print(const Ways& ways, bool json) {
  if (json) {
    nlohmann::json all;
    for (const auto& [way, rounds] : ways) all[way] = rounds;
    std::printf("%s\n", all.dump(1).c_str());
    return;
  }
  for (const auto& [way, rounds] : ways) {
    const auto [least, most] = std::minmax_element(rounds.begin(), rounds.end());
    std::printf("%-15s %6.1f ns, %6.1f to %6.1f\n", way.c_str(), median(rounds), *least, *most);
  }
}

}  // namespace piracema::bench
