#include "os/memory_watch.h"

#include "base/text.h"

namespace piracema {

std::optional<std::string> MemoryWatch::look(const MemoryLeft& memory, std::uint64_t own) {
  if (memory.left > memory.limit / 5) said_.reset();
  const bool is_short = memory.left < memory.limit / 10 && own >= memory.limit / 10;
  if (!is_short || (said_ && memory.left > *said_ / 2)) return std::nullopt;
  said_ = memory.left;
  const auto text = [](std::uint64_t bytes) { return human_bytes(static_cast<double>(bytes)); };
  return concat(
      "memory gets short: ", text(memory.left), " are left of the ", text(memory.limit),
      memory.of_machine ? " of this machine" : " of its control group (a container, a job)",
      ", and this process has ", text(own));
}

}  // namespace piracema
