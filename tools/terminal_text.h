#pragma once

#include <string>

namespace piracema::tools {

/// What programs say of themselves, on one line and without what a terminal would take for orders.
std::string terminal_text(std::string text);

}  // namespace piracema::tools
