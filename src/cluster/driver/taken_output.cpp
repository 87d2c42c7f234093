#include "cluster/driver/taken_output.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace piracema::cluster {

void TakenOutput::take(std::string_view text, int to) {
  bytes_ += text.size();
  while (!text.empty()) {
    const ssize_t count = ::write(to, text.data(), text.size());
    if (count < 0 && errno != EINTR) return;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace piracema::cluster
