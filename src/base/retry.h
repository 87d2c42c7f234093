#pragma once

#include <cerrno>

namespace piracema {

/// Calls again what a signal has interrupted.
template <class Call>
auto retry(Call call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

}  // namespace piracema
