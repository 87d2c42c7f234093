#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace piracema::tools {

struct ScreenOptions {
  /// Lines are cut to so many columns, and rows left out at so many lines; 0: as they are.
  std::size_t columns = 0, lines = 0;
  bool color = false;
};

/// What /api/v1/all says of a job, as lines for a terminal. Takes any JSON: what is missing, or of
/// another kind, is left out, and nothing in a text can move the cursor.
std::string screen_of(const nlohmann::json& all, const ScreenOptions& options);

}  // namespace piracema::tools
