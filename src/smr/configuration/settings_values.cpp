#include "smr/configuration/settings_values.h"

#include <utility>

#include "base/parse.h"

namespace piracema::smr {

using std::chrono::milliseconds;

Result<Done> read_flag(const std::string& text, bool& to) {
  if (text != "true" && text != "false") {
    return Error{Errc::config, concat("want true or false, found '", text, "'")};
  }
  to = text == "true";
  return Done{};
}

Result<Done> read_time(const std::string& text, milliseconds least, milliseconds& to) {
  const auto time = parse_duration(text);
  if (time && *time >= least && *time <= std::chrono::hours(1)) {
    to = *time;
    return Done{};
  }
  return Error{Errc::config, concat("want a time from ", least.count(),
                                    "ms to 1h such as \"250ms\", found '", text, "'")};
}

}  // namespace piracema::smr
