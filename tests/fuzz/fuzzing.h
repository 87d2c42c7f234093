#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/random.h"

/// What fuzz targets have in common.
namespace piracema::fuzzing {

/// Changes bytes behind the first `from`, in so many places: another byte, another bit, bytes that
/// are missing, that come twice, a small number, an early end.
inline void mutate(std::string& bytes, std::uint64_t changes, Random& random,
                   std::size_t from = 0) {
  for (; changes > 0 && bytes.size() > from; --changes) {
    const std::size_t at = from + random.below(bytes.size() - from);
    switch (random.below(6)) {
      case 0:
        bytes[at] = static_cast<char>(random.next());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
      case 2:
        bytes.erase(at, 1 + random.below(60));
        break;
      case 3:
        bytes.insert(at, bytes.substr(random.below(bytes.size()), random.below(80)));
        break;
      case 4:
        bytes[at] = static_cast<char>(random.below(4));
        break;
      default:
        bytes.resize(at);
        break;
    }
  }
}

/// The main program of a target: `inputs` seeds; with an argument, as many as fit into so many
/// seconds; with PIRACEMA_SEED that one. `run_one` says why what its seed makes was read wrongly,
/// or nothing.
inline int run(int argc, char** argv, std::uint64_t inputs,
               const std::function<std::string(std::uint64_t seed)>& run_one) {
  std::uint64_t first = 1, last = inputs;
  if (const char* seed = std::getenv("PIRACEMA_SEED")) {
    first = last = std::strtoull(seed, nullptr, 10);
  }
  const Time until = now() + std::chrono::seconds(argc > 1 ? std::atoi(argv[1]) : 0);
  if (argc > 1) last = ~std::uint64_t{0};
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    if (const std::string why = run_one(seed); !why.empty()) {
      std::printf("seed %llu failed: %s; PIRACEMA_SEED=%llu replays it\n",
                  static_cast<unsigned long long>(seed), why.c_str(),
                  static_cast<unsigned long long>(seed));
      return 1;
    }
    if (argc > 1 && seed % 256 == 0 && now() > until) {
      std::printf("%llu inputs\n", static_cast<unsigned long long>(seed));
      return 0;
    }
  }
  return 0;
}

}  // namespace piracema::fuzzing
