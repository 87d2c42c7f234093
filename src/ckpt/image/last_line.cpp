#include "ckpt/image/last_line.h"

#include <cstdint>

#include "os/helper.h"
#include "store/disk/files.h"

namespace piracema::ckpt {

std::string last_line_of(const std::string& file) {
  constexpr std::uint64_t bytes_max = 64 << 10;
  const auto text = store::read_file(file, bytes_max);
  if (!text) return {};
  return last_line(std::string(reinterpret_cast<const char*>(text->data()), text->size()));
}

}  // namespace piracema::ckpt
