#pragma once

#include <string>

namespace piracema::cluster {

/// Which snapshot a resumed job goes on from.
struct From {
  /// Empty: the newest one.
  std::string savepoint;
  /// Newer ones are removed. What sinks have written since is cut back, so nobody may go on from
  /// them any more.
  bool discard_newer = false;
};

}  // namespace piracema::cluster
