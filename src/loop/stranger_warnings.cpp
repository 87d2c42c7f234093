#include "loop/stranger_warnings.h"

#include <utility>

#include "base/log.h"

namespace piracema::net {

StrangerWarnings::~StrangerWarnings() {
  if (later_) poller_.cancel(*later_);
  if (const auto line = warnings_.rest()) log(Level::warning, *line);
}

void StrangerWarnings::warn(std::string text) {
  if (const auto line = warnings_.add(now(), std::move(text))) {
    log(Level::warning, *line);
  } else if (!later_) {
    say_later();
  }
}

void StrangerWarnings::say_later() {
  later_ = poller_.at(now() + LimitedWarnings::each, [this] {
    later_.reset();
    if (const auto line = warnings_.late(now())) log(Level::warning, *line);
    if (warnings_.has_counted()) say_later();
  });
}

}  // namespace piracema::net
