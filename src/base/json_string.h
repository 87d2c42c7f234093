#pragma once

#include <string>
#include <string_view>

namespace piracema {

/// The text as a string of JSON, in quotes. A byte that is no part of UTF-8 becomes the four
/// letters \xff, so that the line is JSON whatever somebody has put into it.
std::string json_string(std::string_view text);

}  // namespace piracema
