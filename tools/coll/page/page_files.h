#pragma once

#include <string_view>

namespace piracema::tools {

/// What a browser gets of an MPI job, beside what all pages share; compiled in from the files
/// beside this one.
extern const std::string_view coll_html, coll_script;

}  // namespace piracema::tools
