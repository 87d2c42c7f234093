#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

/// A file whose writer keeps the length itself, for sinks of the operator interface: theirs is in
/// the keyStore. What lies behind that length when a writer begins was written after the snapshot
/// that the job went back to, and is cut off. So every byte is there once.
///
/// A copy is a writer that has not begun yet. Throws std::runtime_error for what the file refuses.
namespace apps {

class PlacedOutput {
 public:
  explicit PlacedOutput(std::string path) : path_(std::move(path)) {}
  PlacedOutput(const PlacedOutput& other) : path_(other.path_) {}
  PlacedOutput& operator=(const PlacedOutput&) = delete;
  ~PlacedOutput() {
    if (fd_ >= 0) ::close(fd_);
  }

  void write_at(std::uint64_t length, std::string_view bytes) {
    if (fd_ < 0) open(length);
    for (; !bytes.empty();) {
      const ssize_t count = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(length));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("cannot be written");
      bytes.remove_prefix(static_cast<std::size_t>(count));
      length += static_cast<std::uint64_t>(count);
    }
  }

 private:
  void open(std::uint64_t length) {
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0) fail("cannot be opened");
    if (::ftruncate(fd_, static_cast<off_t>(length)) != 0) fail("cannot be cut");
  }
  [[noreturn]] void fail(const char* what) const {
    throw std::runtime_error("'" + path_ + "' " + what + ": " + std::strerror(errno));
  }

  std::string path_;
  int fd_ = -1;
};

}  // namespace apps
