#include "base/log_limit.h"

#include <utility>

namespace piracema {

void LogLimit::log(Level level, std::string message, Time time) {
  if (const auto line = warnings_.add(time, std::move(message))) piracema::log(level, *line);
}

}  // namespace piracema
