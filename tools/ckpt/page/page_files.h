#pragma once

#include <string_view>

namespace piracema::tools {

/// What a browser gets of a job that can be saved, beside what all pages share; compiled in from the files beside
/// this one.
extern const std::string_view ckpt_html, ckpt_script;

}  // namespace piracema::tools
