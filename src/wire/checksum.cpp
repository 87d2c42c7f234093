#include "wire/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace piracema::wire {

std::uint64_t checksum(Bytes bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace piracema::wire
