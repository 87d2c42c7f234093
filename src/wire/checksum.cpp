#include "wire/checksum.h"

#include <piracema/key.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace piracema::wire {

std::uint64_t checksum(Bytes bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace piracema::wire

namespace piracema::detail {

std::uint64_t hash_of_bytes(Bytes bytes) { return wire::checksum(bytes); }

}  // namespace piracema::detail
