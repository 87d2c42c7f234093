#include "jobs/shell/byte_writer.h"

#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace piracema::jobs {

ByteWriter::ByteWriter(Fd fd, Events events)
    : fd_(std::move(fd)),
      events_(std::move(events)),
      news_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  thread_ = std::thread([this] { run(); });
}

ByteWriter::~ByteWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ::eventfd_write(news_.get(), 1);
  if (thread_.joinable()) thread_.join();
}

void ByteWriter::write(std::string bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (!bytes.empty()) waiting_.push_back(std::move(bytes));
  }
  ::eventfd_write(news_.get(), 1);
}

void ByteWriter::end() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ::eventfd_write(news_.get(), 1);
}

void ByteWriter::wait() {
  if (thread_.joinable()) thread_.join();
}

// False: there is no more.
bool ByteWriter::wait_for_work() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return false;
      if (!waiting_.empty()) return true;
      if (ends_) return false;
    }
    pollfd news{.fd = news_.get(), .events = POLLIN, .revents = 0};
    ::poll(&news, 1, -1);
    eventfd_t seen = 0;
    ::eventfd_read(news_.get(), &seen);
  }
}

// A descriptor may be shared with others, so it is not made one that does not block: a pipe that
// has room takes so many bytes at once.
bool ByteWriter::wait_for_room() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return false;
    }
    pollfd watched[] = {{news_.get(), POLLIN, 0}, {fd_.get(), POLLOUT, 0}};
    ::poll(watched, 2, -1);
    if (watched[1].revents != 0) return true;
    eventfd_t seen = 0;
    ::eventfd_read(news_.get(), &seen);
  }
}

void ByteWriter::write_first() {
  std::string bytes;
  {
    const std::lock_guard lock(mutex_);
    bytes = std::move(waiting_.front());
    waiting_.pop_front();
  }
  for (std::size_t at = 0; at < bytes.size() && fd_ && wait_for_room();) {
    const std::size_t piece = std::min<std::size_t>(bytes.size() - at, PIPE_BUF);
    const ssize_t count = ::write(fd_.get(), bytes.data() + at, piece);
    if (count > 0) {
      at += static_cast<std::size_t>(count);
    } else if (errno != EINTR && errno != EAGAIN) {
      fd_.close();
      events_.unread();
    }
  }
  events_.wrote(bytes.size());
}

void ByteWriter::run() {
  while (wait_for_work()) write_first();
  fd_.close();
}

}  // namespace piracema::jobs
