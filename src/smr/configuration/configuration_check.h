#pragma once

#include <piracema/smr/configuration.h>

#include <cstdint>
#include <optional>
#include <string>

namespace piracema::smr {

/// Instances from one checkpoint to the next: a change of the view takes as long (view_delay).
constexpr std::uint32_t checkpoint_every_min = 32, checkpoint_every_max = 1'000'000'000;

/// What is wrong, and the name of what it is about: "replica.1.address".
struct Finding {
  std::string name;
  std::string what;
};
/// The first thing that is wrong with a configuration.
std::optional<Finding> check(const Configuration& configuration);

}  // namespace piracema::smr
