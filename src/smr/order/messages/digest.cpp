#include "smr/order/messages/digest.h"

#include <sodium.h>

#include <cstring>

namespace piracema::smr {

Digest digest_of(Bytes bytes) {
  Digest digest;
  crypto_generichash(reinterpret_cast<unsigned char*>(digest.data()), digest.size(),
                     reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr,
                     0);
  return digest;
}

Digest digest_of(const Digest& first, const Digest& second) {
  std::array<std::byte, 2 * sizeof(Digest)> both;
  std::memcpy(both.data(), first.data(), first.size());
  std::memcpy(both.data() + first.size(), second.data(), second.size());
  return digest_of(Bytes(both));
}

}  // namespace piracema::smr
