#pragma once

#include <filesystem>

#include "base/ensure.h"
#include "forecast/store/store_sample.h"

/// What tests share that write samples.
namespace piracema::ckpt::testing {

/// The directory for temporary files, or the memory's if that is nearly full: nobody writes samples
/// where there is no room for them, and machines that build much have none.
inline std::filesystem::path place_with_room() {
  constexpr std::uint64_t sample_bytes_max = 64 << 20;
  const auto place = std::filesystem::temp_directory_path();
  const auto enough = has_room(place.string(), sample_bytes_max);
  ENSURE(enough.ok());
  return *enough ? place : "/dev/shm";
}

}  // namespace piracema::ckpt::testing
