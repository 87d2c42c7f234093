#include "base/restore_progress.h"

#include <utility>

namespace piracema {

namespace {
thread_local std::atomic<std::uint64_t>* counting = nullptr;
}

void detail::note_restored(std::size_t bytes) {
  if (counting != nullptr) counting->fetch_add(bytes, std::memory_order_relaxed);
}

RestoreProgress::RestoreProgress(std::atomic<std::uint64_t>& counter)
    : before_(std::exchange(counting, &counter)) {}

RestoreProgress::~RestoreProgress() { counting = before_; }

}  // namespace piracema
