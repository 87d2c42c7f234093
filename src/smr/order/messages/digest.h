#pragma once

#include <piracema/bytes.h>

#include "smr/ids.h"

namespace piracema::smr {

/// BLAKE2b-256. A pure function; any thread.
Digest digest_of(Bytes bytes);
/// Of one behind the other: the digest of a history and of what follows it.
Digest digest_of(const Digest& first, const Digest& second);

}  // namespace piracema::smr
