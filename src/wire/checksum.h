#pragma once

#include <cstdint>

#include <piracema/bytes.h>

namespace piracema::wire {

/// XXH3, 64 bits: notices what disks and cables do to bytes, not what an enemy does.
std::uint64_t checksum(Bytes);

}  // namespace piracema::wire
