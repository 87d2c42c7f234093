#include "run/replica/dead_letters.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"

namespace piracema::runtime {

namespace {

std::string hex(Bytes bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += digits[static_cast<unsigned>(byte) >> 4];
    text += digits[static_cast<unsigned>(byte) & 15];
  }
  return text;
}

}  // namespace

void DeadLetters::add(const std::string& node, std::uint32_t replica, std::uint64_t item,
                      Bytes bytes) {
  if (path_.empty()) return;
  const std::string line = concat("{\"node\":\"", node, "\",\"replica\":", replica,
                                  ",\"item\":", item, ",\"bytes\":\"", hex(bytes), "\"}\n");
  std::lock_guard lock(mutex_);
  if (!file_) file_ = Fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file_ ||
      ::write(file_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    log(Level::error, with_errno(concat("dead letters '", path_, "': item ", item, " of '", node,
                                        "' cannot be written")));
  }
}

}  // namespace piracema::runtime
