#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>

/// What a program of several processes says of itself, for `run_marked` in bench/common/program.h.
/// By the steady clock, which all processes of a machine share.
namespace piracema::bench {

inline double mark_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The first item is about to be made.
inline void mark_start() {
  std::printf("start %.9f\n", mark_seconds());
  std::fflush(stdout);
}

/// So many items have come to this end, and no more will.
inline void mark_end(std::uint64_t items) {
  std::printf("end %.9f items %llu\n", mark_seconds(), static_cast<unsigned long long>(items));
  std::fflush(stdout);
}

}  // namespace piracema::bench
