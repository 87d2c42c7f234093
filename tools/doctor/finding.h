#pragma once

#include <string>

namespace piracema::tools {

/// What `piracema doctor` says in a line.
struct Finding {
  /// Who wants it: machine, streams, or a product.
  std::string part;
  std::string what;
  bool ok = false;
  /// The part does not work without it; else it is worth knowing.
  bool needed = false;
  /// What was found.
  std::string text;
  /// The command that mends it; empty if it is ok, or none is known.
  std::string fix;
};

}  // namespace piracema::tools
