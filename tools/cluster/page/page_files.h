#pragma once

#include <string_view>

namespace piracema::tools {

/// What a browser gets of a cluster, beside what all pages share; compiled in from the files beside
/// this one.
extern const std::string_view cluster_html, cluster_script;

}  // namespace piracema::tools
