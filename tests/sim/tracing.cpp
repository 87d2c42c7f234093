#include "sim/tracing.h"

#include <cstdlib>

namespace piracema::sim {

bool tracing() {
  static const char* const seed = std::getenv("PIRACEMA_SEED");
  return seed != nullptr && *seed != '\0';
}

}  // namespace piracema::sim
