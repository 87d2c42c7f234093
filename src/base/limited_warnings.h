#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"

namespace piracema {

/// Warnings that anybody can cause, as often as he likes: the first ones are written, then one in a
/// while, with the number of those that were not. Knows no clock.
class LimitedWarnings {
 public:
  static constexpr std::uint32_t at_once = 20;
  static constexpr Time each = std::chrono::seconds(10);

  /// What is to be written, if anything.
  std::optional<std::string> add(Time now, std::string text);
  /// The same of those that were only counted, when nothing more comes.
  std::optional<std::string> late(Time now);
  /// The same, without waiting for its time.
  std::optional<std::string> rest();

  bool has_counted() const { return counted_ != 0; }

 private:
  void refill(Time now);

  std::uint32_t left_ = at_once;
  /// Up to when `left_` counts.
  Time filled_{};
  std::uint64_t counted_ = 0;
  std::string last_;
};

}  // namespace piracema
