#pragma once

#include <piracema/operator.h>
#include <piracema/windows.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace piracema::detail {

/// Of windows: the slice of time that all of them are made of, and how many one has.
class WindowGrid {
 public:
  /// No window is longer.
  static constexpr std::chrono::nanoseconds longest = std::chrono::hours(24 * 3'653);

  explicit WindowGrid(Tumbling windows) : WindowGrid(Sliding{windows.size, windows.size}) {}
  explicit WindowGrid(Sliding windows) : size_(windows.size), slice_(windows.every) {}

  /// Throws std::invalid_argument.
  void check() const {
    const bool right =
        slice_.count() > 0 && size_ >= slice_ && size_ % slice_ == size_.zero() && size_ <= longest;
    if (right) return;
    throw std::invalid_argument(
        "a window: want a length above 0, of ten years at most, that is a multiple of the time "
        "from one window to the next, found " +
        std::to_string(size_.count()) + " ns every " + std::to_string(slice_.count()) + " ns");
  }

  /// For a snapshot of other windows to be refused: slices are numbered by their length, and those
  /// that no window needed are gone.
  std::string text() const {
    return "of " + std::to_string(size_.count()) + " ns every " + std::to_string(slice_.count()) +
           " ns";
  }

  std::int64_t slices() const { return size_ / slice_; }
  /// Which slice a time is in.
  std::int64_t slice_of(EventTime time) const {
    const auto since = time.time_since_epoch();
    return since / slice_ - (since % slice_ < since.zero() ? 1 : 0);
  }
  EventTime end(std::int64_t number) const { return EventTime(number * slice_); }
  EventTime begin(std::int64_t end_number) const { return end(end_number) - size_; }

 private:
  std::chrono::nanoseconds size_, slice_;
};

}  // namespace piracema::detail
