#pragma once

#include <piracema/error.h>

#include <string>

namespace piracema::ckpt {

/// Over what is there, or to a new file; `flags` are more of open(2) for that. Sparse where the
/// source is: what is not data is left out. Not synced. Errc::io.
Result<Done> copy_file(const std::string& from, const std::string& to, int flags);

}  // namespace piracema::ckpt
