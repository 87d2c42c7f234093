#pragma once

#include <cstddef>

/// What all that uses libsodium needs.
namespace piracema {

/// Makes it ready; called first. Ends the process if the machine has no source of random numbers.
void prepare_crypto();

/// Bytes as it takes them.
inline unsigned char* raw(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }
inline const unsigned char* raw(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

}  // namespace piracema
