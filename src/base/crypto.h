#pragma once

#include <cstddef>
#include <string>

/// What all that uses libsodium needs.
namespace piracema {

/// Makes it ready; called first. Ends the process if the machine has no source of random numbers.
void prepare_crypto();

/// A name that nobody else draws or guesses: so many random bytes, in hexadecimal.
std::string random_hex(std::size_t bytes);

/// Bytes as it takes them.
inline unsigned char* raw(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }
inline const unsigned char* raw(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

}  // namespace piracema
