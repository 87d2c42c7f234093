#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

namespace piracema::net {

/// A pointer that many threads follow at any rate while one replaces it now and then
/// (read-copy-update; the two counters are those of McKenney's SRCU).
template <class T>
class RcuPtr {
 public:
  /// Calls `use(T&)`, if there is a T, which lives at least until the return. Never waits.
  template <class Use>
  void read(Use&& use) {
    const Reading reading(readers_[phase_.load() & 1]);
    if (T* const value = value_.load()) use(*value);
  }

  /// Returns when nobody uses the old T any more, and lets it go. One thread at a time, and not
  /// from within `use`.
  void replace(std::shared_ptr<T> by) {
    value_.store(by.get());
    // Readers from now on find the new value. Both counters have to be seen at zero, as a reader
    // may be about to use the one of an earlier phase; each drains once no new ones go there.
    for (int i = 0; i < 2; ++i) {
      const auto& readers = readers_[phase_.fetch_add(1) & 1];
      while (readers.load() != 0) std::this_thread::yield();
    }
    owner_ = std::move(by);
  }

 private:
  class Reading {
   public:
    explicit Reading(std::atomic<std::uint32_t>& count) : count_(count) { count_.fetch_add(1); }
    ~Reading() { count_.fetch_sub(1); }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    std::atomic<std::uint32_t>& count_;
  };

  std::atomic<T*> value_ = nullptr;
  std::atomic<std::uint32_t> phase_ = 0;
  std::array<std::atomic<std::uint32_t>, 2> readers_{};
  std::shared_ptr<T> owner_;
};

}  // namespace piracema::net
