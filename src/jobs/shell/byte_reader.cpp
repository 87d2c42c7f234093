#include "jobs/shell/byte_reader.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace piracema::jobs {

namespace {
constexpr std::size_t piece_bytes = std::size_t{64} << 10;
}  // namespace

ByteReader::ByteReader(int fd, std::function<void(std::string)> read)
    : fd_(fd), read_(std::move(read)), news_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  thread_ = std::thread([this] { run(); });
}

ByteReader::~ByteReader() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ::eventfd_write(news_.get(), 1);
  thread_.join();
}

void ByteReader::taken(std::uint64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    ahead_ -= std::min(ahead_, bytes);
  }
  ::eventfd_write(news_.get(), 1);
}

// Waits until there is something; false at the end of this.
bool ByteReader::may_read() {
  for (;;) {
    bool is_full = false;
    {
      const std::lock_guard lock(mutex_);
      if (ending_) return false;
      is_full = ahead_ >= ahead_max;
    }
    pollfd watched[] = {{news_.get(), POLLIN, 0}, {is_full ? -1 : fd_, POLLIN, 0}};
    if (::poll(watched, 2, -1) < 0 && errno != EINTR) return false;
    eventfd_t seen = 0;
    ::eventfd_read(news_.get(), &seen);
    if (watched[1].revents != 0) return true;
  }
}

void ByteReader::run() {
  std::string bytes;
  while (may_read()) {
    bytes.resize(piece_bytes);
    const ssize_t count = ::read(fd_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return read_("");
    bytes.resize(static_cast<std::size_t>(count));
    {
      const std::lock_guard lock(mutex_);
      ahead_ += bytes.size();
    }
    read_(bytes);
  }
}

}  // namespace piracema::jobs
