#pragma once

namespace piracema {

[[noreturn]] void ensure_failed(const char* condition, const char* file, int line);

}  // namespace piracema

/// States what our own code guarantees; on in every build. Never for what the world sends.
#define ENSURE(condition) \
  ((condition) ? void() : ::piracema::ensure_failed(#condition, __FILE__, __LINE__))
