#include "bench/common/ways.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench/common/statistics.h"

namespace piracema::bench {

void print(const Ways& ways, bool json) {
  if (json) {
    nlohmann::json all;
    for (const auto& [way, rounds] : ways) all[way] = rounds;
    std::printf("%s\n", all.dump(1).c_str());
    return;
  }
  for (const auto& [way, rounds] : ways) {
    const Summary took = summarize(rounds);
    std::printf("%-15s %6.1f ns, %6.1f to %6.1f\n", way.c_str(), took.median, took.min, took.max);
  }
}

}  // namespace piracema::bench
