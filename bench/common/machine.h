#pragma once

#include <string>

namespace piracema::bench {

/// What a figure depends on beside the program.
struct Machine {
  /// That this process may use.
  unsigned cores = 0;
  std::string processor;
  /// "Linux 6.1.0".
  std::string kernel;
  double memory_gb = 0;
  /// Average number of running processes over the last minute.
  double load = 0;
};

Machine this_machine();

/// "2 cores (Xeon), Linux 6.1.0, 24 GB, load 0.1".
std::string to_text(const Machine&);

}  // namespace piracema::bench
