#include "base/crypto.h"

#include <sodium.h>

#include "base/ensure.h"

namespace piracema {

void prepare_crypto() {
  static const bool ready = sodium_init() >= 0;
  ENSURE(ready);
}

}  // namespace piracema
