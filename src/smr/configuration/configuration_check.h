#pragma once

#include <piracema/smr/configuration.h>

#include <optional>
#include <string>

namespace piracema::smr {

/// What is wrong, and the name of what it is about: "replica.1.address".
struct Finding {
  std::string name;
  std::string what;
};
/// The first thing that is wrong with a configuration.
std::optional<Finding> check(const Configuration& configuration);

}  // namespace piracema::smr
