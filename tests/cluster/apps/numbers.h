#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

/// The numbers from 0 on; a while passes before each from `pause_from` on.
struct Numbers {
  std::int64_t end = 0, pause_us = 0, next = 0, pause_from = 0;

  std::optional<std::int64_t> operator()() {
    if (next == end) return std::nullopt;
    if (pause_us != 0 && next >= pause_from) {
      std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
    }
    return next++;
  }
  std::int64_t position() const { return next; }
  void seek(std::int64_t position) { next = position; }
};
