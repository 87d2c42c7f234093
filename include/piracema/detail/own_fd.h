#pragma once

#include <unistd.h>

#include <utility>

namespace piracema::detail {

/// A file descriptor of one object. A copy of the object has none: it opens its own.
class OwnFd {
 public:
  OwnFd() = default;
  explicit OwnFd(int fd) : fd_(fd) {}
  OwnFd(const OwnFd&) {}
  OwnFd(OwnFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnFd& operator=(OwnFd other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~OwnFd() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace piracema::detail
