#include "ckpt/image/output_tail.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.h"

namespace piracema::ckpt {

Result<OutputTail> OutputTail::open(const std::string& path, std::uint64_t from, int to) {
  Fd file(::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600));
  Fd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!file || !watch || ::inotify_add_watch(watch.get(), path.c_str(), IN_MODIFY) < 0) {
    return Error{Errc::io, with_errno(path)};
  }
  return OutputTail(std::move(file), std::move(watch), from, to);
}

namespace {

// A pipe that is writable takes so much without waiting.
constexpr std::size_t step_bytes = PIPE_BUF;

bool is_writable(int fd, bool wait) {
  pollfd one{fd, POLLOUT, 0};
  return ::poll(&one, 1, wait ? -1 : 0) != 0;
}

}  // namespace

bool OutputTail::drain(bool wait) {
  std::array<char, step_bytes> room;
  while (::read(watch_.get(), room.data(), room.size()) > 0) {
  }
  for (;;) {
    const ssize_t count = ::pread(file_.get(), room.data(), room.size(), static_cast<off_t>(at_));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    if (!is_writable(to_, wait)) return false;
    const ssize_t written = ::write(to_, room.data(), static_cast<std::size_t>(count));
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    at_ += static_cast<std::uint64_t>(written < 0 ? count : written);
  }
}

std::uint64_t OutputTail::cut_to(std::uint64_t bytes) {
  const std::uint64_t beyond = at_ - std::min(at_, bytes);
  at_ -= beyond;
  return beyond;
}

}  // namespace piracema::ckpt
