#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/smr/planted.h"

namespace piracema::smr_sim {

/// How the hunt for one mistake ended.
struct Trail {
  const Planted* mistake = nullptr;
  bool found = false;
  /// "seed 3: ...", what the simulator complained about; or that it did not, or did not even come
  /// by.
  std::string told;
};

/// Hunts for the mistakes, two at a time, each in a process of its own, as it may take all memory
/// or run into an ENSURE. Prints each trail to standard output as it ends. Only seeds count in
/// which nothing is wrong without the mistake.
std::vector<Trail> hunt_all(std::span<const Planted> mistakes);

}  // namespace piracema::smr_sim
