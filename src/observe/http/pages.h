#pragma once

#include "base/clock.h"
#include "observe/http/request.h"

namespace piracema::observe {

/// What a site tells, to who may ask: that was looked at before. Safe from any thread.
class Pages {
 public:
  virtual ~Pages() = default;
  /// GET and HEAD. `now` is the machine's clock.
  virtual Response get(const Request& request, Time now) = 0;
  /// What changes something.
  virtual Response post(const Request& request) = 0;
};

}  // namespace piracema::observe
