#include "base/crypto.h"

#include <sodium.h>

#include "base/ensure.h"
#include "base/hex.h"

namespace piracema {

void prepare_crypto() {
  static const bool ready = sodium_init() >= 0;
  ENSURE(ready);
}

std::string random_hex(std::size_t bytes) {
  prepare_crypto();
  std::string drawn(bytes, 0);
  randombytes_buf(drawn.data(), drawn.size());
  return store::to_hex(std::string_view(drawn));
}

}  // namespace piracema
