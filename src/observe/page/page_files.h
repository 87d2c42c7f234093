#pragma once

#include <string_view>

namespace piracema::observe {

/// What a browser gets; compiled in from the files beside this one.
extern const std::string_view page_html, page_style, page_common, page_script, page_icon;

}  // namespace piracema::observe
