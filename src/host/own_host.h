#pragma once

#include <string>

namespace piracema::cluster {

/// What this machine calls itself.
std::string own_host();

}  // namespace piracema::cluster
