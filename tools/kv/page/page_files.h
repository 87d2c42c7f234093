#pragma once

#include <string_view>

namespace piracema::tools {

/// What a browser gets of a replica, beside what all pages share; compiled in from the files beside
/// this one.
extern const std::string_view kv_html, kv_script;

}  // namespace piracema::tools
