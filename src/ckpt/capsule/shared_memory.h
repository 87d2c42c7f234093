#pragma once

#include <piracema/error.h>

#include <string>

namespace piracema::ckpt {

/// /dev/shm of the capsule, but for its sockets, which are criu's.
constexpr const char* shared_memory_part = "shm.tar";

/// Of the capsule in which the caller is, to and from the image's parts. Errc::io, or Errc::config
/// without tar.
Result<Done> save_shared_memory(const std::string& parts);
Result<Done> put_shared_memory_back(const std::string& parts);

}  // namespace piracema::ckpt
