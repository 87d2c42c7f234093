#pragma once

#include <initializer_list>
#include <string>
#include <utility>

namespace piracema::tools {

/// Columns of these widths; negative: to the left. The last one is as long as it is.
std::string row(std::initializer_list<std::pair<std::string, int>> columns);

}  // namespace piracema::tools
