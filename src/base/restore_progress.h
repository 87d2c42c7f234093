#pragma once

#include <atomic>
#include <cstdint>

#include <piracema/detail/restored.h>

namespace piracema {

/// While it lives, what its thread says by `detail::note_restored` is added to a counter, which
/// other threads may read.
class RestoreProgress {
 public:
  explicit RestoreProgress(std::atomic<std::uint64_t>& counter);
  ~RestoreProgress();
  RestoreProgress(const RestoreProgress&) = delete;
  RestoreProgress& operator=(const RestoreProgress&) = delete;

 private:
  std::atomic<std::uint64_t>* const before_;
};

}  // namespace piracema
