#pragma once

#include <string>
#include <vector>

namespace piracema::cluster {

/// Which snapshot a resumed job goes on from.
struct From {
  /// Empty: the newest one.
  std::string savepoint;
  /// Newer ones are removed. What sinks have written since is cut back, so nobody may go on from
  /// them any more.
  bool discard_newer = false;
};

/// How the program that goes on may differ from the one that the snapshot is of.
struct MayDiffer {
  /// States may be of other types: the program knows how to read them.
  bool states = false;
  /// It may be another version, with other operators (state/program_change.h).
  bool program = false;
  /// Operators that may be gone, and their states with them. Wants `program`.
  std::vector<std::string> dropped;
};

}  // namespace piracema::cluster
