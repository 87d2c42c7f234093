#pragma once

#include <sys/statvfs.h>

#include <filesystem>

#include "base/testing.h"
#include "forecast/store/store_sample.h"

/// What tests share that write samples.
namespace piracema::ckpt::testing {

/// The directory for temporary files, or the memory's if that is nearly full: nobody writes samples
/// where there is no room for them, and machines that build much have none.
inline std::filesystem::path place_with_room() {
  constexpr double sample_bytes_max = 64 << 20;
  const auto place = std::filesystem::temp_directory_path();
  struct statvfs room {};
  ENSURE(::statvfs(place.c_str(), &room) == 0);
  const double unit = static_cast<double>(room.f_frsize);
  const bool enough = has_room(sample_bytes_max, unit * static_cast<double>(room.f_bavail),
                               unit * static_cast<double>(room.f_blocks));
  return enough ? place : "/dev/shm";
}

}  // namespace piracema::ckpt::testing
