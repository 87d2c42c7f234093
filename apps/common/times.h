#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

/// When a program's source gave out its first item and its sink had the last one: printed on
/// standard output if $APP_TIMES is set, for bench/papers. By the steady clock, which all processes
/// of a host share. So the start of processes is not measured, which differs between launchers.
namespace apps {

inline bool prints_times() { return std::getenv("APP_TIMES") != nullptr; }

inline void print_time(const char* what) {
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  std::printf("%s %.9f", what, seconds);
}

inline void started() {
  if (!prints_times()) return;
  print_time("start");
  std::printf("\n");
  std::fflush(stdout);
}

inline void ended(std::uint64_t items) {
  if (!prints_times()) return;
  print_time("end");
  std::printf(" items %llu\n", static_cast<unsigned long long>(items));
  std::fflush(stdout);
}

}  // namespace apps
