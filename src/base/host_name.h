#pragma once

#include <string>

namespace piracema {

/// This machine's, as it calls itself.
std::string host_name();

}  // namespace piracema
