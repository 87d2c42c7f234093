#include <piracema/detail/kept_memory.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace piracema::detail {

namespace {

// What one process keeps at most; what a stream needs at a time is bounded by its credits.
constexpr std::size_t all_bytes_max = std::size_t{32} << 20;
constexpr int smallest = std::countr_zero(kept_bytes_min);
constexpr int sizes = std::countr_zero(kept_bytes_max) - smallest + 1;

// The address sanitizer is to see every end of a life.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool keeps = false;
#else
constexpr bool keeps = true;
#endif

/// By size, powers of two. Never destroyed: buffers of other static objects may outlive it.
struct KeptMemory {
  KeptMemory() {
    for (std::size_t i = 0; i < free.size(); ++i)
      free[i].reserve(all_bytes_max / (kept_bytes_min << i));
  }
  std::mutex mutex;
  std::array<std::vector<void*>, sizes> free;
  std::size_t bytes = 0;
};
KeptMemory& kept() {
  static KeptMemory& all = *new KeptMemory;
  return all;
}

}  // namespace

void* take_memory(std::size_t& capacity) {
  if (capacity <= kept_bytes_max) {
    capacity = std::bit_ceil(std::max(capacity, kept_bytes_min));
    KeptMemory& all = kept();
    const std::lock_guard lock(all.mutex);
    auto& free = all.free[static_cast<std::size_t>(std::countr_zero(capacity) - smallest)];
    if (!free.empty()) {
      void* memory = free.back();
      free.pop_back();
      all.bytes -= capacity;
      return memory;
    }
  }
  void* memory = std::malloc(capacity);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void give_memory(void* memory, std::size_t capacity) {
  if (keeps) {
    KeptMemory& all = kept();
    const std::lock_guard lock(all.mutex);
    if (all.bytes + capacity <= all_bytes_max) {
      all.free[static_cast<std::size_t>(std::countr_zero(capacity) - smallest)].push_back(memory);
      all.bytes += capacity;
      return;
    }
  }
  std::free(memory);
}

}  // namespace piracema::detail
