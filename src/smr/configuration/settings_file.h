#pragma once

#include <piracema/error.h>

#include <cstddef>
#include <string>
#include <vector>

namespace piracema::smr {

/// One "name = value" of a file of settings.
struct Setting {
  /// "replica.0"; empty before the first "[section]".
  std::string section;
  std::string name;
  /// Without its quotes.
  std::string value;
  /// From 1.
  std::size_t line = 0;
};

/// The part of TOML that configurations need: sections, comments, and values that are numbers,
/// true, false, or strings in double quotes on one line. Errc::config "SOURCE:LINE: …" for all
/// else, also for a name that comes twice in a section.
Result<std::vector<Setting>> parse_settings(const std::string& text, const std::string& source);

}  // namespace piracema::smr
