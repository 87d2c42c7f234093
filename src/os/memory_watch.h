#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "os/memory_left.h"

namespace piracema {

/// Decides when it is to be said that memory gets short: before the kernel ends the process that
/// has most of it, without a word. Pure.
class MemoryWatch {
 public:
  /// A sentence if it is time for one: less than a tenth is left, and this process has as much or
  /// more. Again each time that half of what was left is gone; anew once a fifth was free.
  std::optional<std::string> look(const MemoryLeft& memory, std::uint64_t own);

 private:
  /// Of what was said last.
  std::optional<std::uint64_t> said_;
};

}  // namespace piracema
