#pragma once

#include <piracema/bytes.h>

#include <cstdint>

namespace piracema::wire {

/// XXH3, 64 bits, seed 0: notices what disks and cables do to bytes, not what an enemy does.
std::uint64_t checksum(Bytes);

}  // namespace piracema::wire
