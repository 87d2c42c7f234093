#pragma once

#include <algorithm>
#include <cstddef>

namespace piracema::detail {

/// Of a processor's caches.
inline constexpr std::size_t line_bytes = 64;

/// Memory that is about to be looked at is on its way to the processor's caches, while what else
/// there is to do is done. Changes nothing, and no address is wrong.
inline void fetch(const void* address) {
  __builtin_prefetch(address);
  // GCC takes a function that does nothing else for one without effect, and leaves its calls out:
  // hence the empty instruction.
  asm volatile("");
}

/// The same for objects that lie one behind the other, or the first of them if they are long: the
/// processor sees by itself what comes next.
template <class T>
void fetch_all(const T* first, std::size_t count) {
  const std::size_t bytes = std::min(count * sizeof(T), 4 * line_bytes);
  const auto* const begin = reinterpret_cast<const char*>(first);
  for (std::size_t at = 0; at < bytes; at += line_bytes) fetch(begin + at);
}

}  // namespace piracema::detail
