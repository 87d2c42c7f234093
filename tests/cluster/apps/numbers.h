#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

/// The numbers from 0 on; a while passes before each from `pause_from` on, until a file `hurry`
/// exists.
struct Numbers {
  std::int64_t end = 0, pause_us = 0, next = 0, pause_from = 0;
  std::string hurry;

  std::optional<std::int64_t> operator()() {
    if (next == end) return std::nullopt;
    if (pause_us != 0 && next >= pause_from && !hurries()) {
      std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
    }
    return next++;
  }
  std::int64_t position() const { return next; }
  void seek(std::int64_t position) { next = position; }

 private:
  bool hurries() const { return !hurry.empty() && ::access(hurry.c_str(), F_OK) == 0; }
};
