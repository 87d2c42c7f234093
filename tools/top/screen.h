#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/top/terminal_page.h"

namespace piracema::tools {

/// What `kind` of /api/v1/all calls one of what is shown: "job", "replica". Empty: nothing that
/// `screen_of` knows.
std::string noun_of(const nlohmann::json& all);

/// What /api/v1/all says, as lines for a terminal. Takes any JSON: what is missing, or of another
/// kind, is left out, and nothing in a text can move the cursor.
std::string screen_of(const nlohmann::json& all, const ScreenOptions& options);

}  // namespace piracema::tools
