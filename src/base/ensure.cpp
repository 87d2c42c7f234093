#include "base/ensure.h"

#include <cstdio>
#include <cstdlib>

namespace piracema {

void ensure_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "piracema: internal error: %s does not hold (%s:%d)\n", condition, file,
               line);
  std::abort();
}

}  // namespace piracema
