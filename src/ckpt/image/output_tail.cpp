#include "ckpt/image/output_tail.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.h"

namespace piracema::ckpt {

Result<OutputTail> OutputTail::open(const std::string& path, std::uint64_t from, int to,
                                    bool elsewhere) {
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  Fd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!file || !watch || ::inotify_add_watch(watch.get(), path.c_str(), IN_MODIFY) < 0) {
    return Error{Errc::io, with_errno(path)};
  }
  return OutputTail(std::move(file), std::move(watch), from, to, elsewhere);
}

namespace {

// A pipe that is writable takes so much without waiting.
constexpr std::size_t step_bytes = PIPE_BUF;

bool is_writable(int fd) {
  pollfd one{fd, POLLOUT, 0};
  return ::poll(&one, 1, 0) != 0;
}

// A job writes less than the difference before it is stopped.
constexpr std::uint64_t room_least = OutputTail::room_kept / 2;

bool is_full(int reason) { return reason == ENOSPC || reason == EDQUOT; }

}  // namespace

// Clients of NFS, GlusterFS and their like remember a file's size for seconds, and read no further.
// Who sets what is set already has to ask the server, whose answer has the size.
void OutputTail::learn_size() {
  struct stat status {};
  if (::fstat(file_.get(), &status) == 0) (void)!::fchmod(file_.get(), status.st_mode & 07777);
}

OutputTail::Drained OutputTail::drain() {
  if (elsewhere_) learn_size();
  std::array<char, step_bytes> room;
  while (::read(watch_.get(), room.data(), room.size()) > 0) {
  }
  for (;;) {
    const ssize_t count = ::pread(file_.get(), room.data(), room.size(), static_cast<off_t>(at_));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Drained::all;
    if (!is_writable(to_)) return Drained::later;
    const ssize_t written = ::write(to_, room.data(), static_cast<std::size_t>(count));
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written < 0 && is_full(errno)) return Drained::no_room;
    at_ += static_cast<std::uint64_t>(written < 0 ? count : written);
  }
}

bool OutputTail::keep_room() {
  struct stat status {};
  if (!can_keep_ || ::fstat(file_.get(), &status) != 0) return true;
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (kept_until_ >= bytes + room_least) return true;
  if (::fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, status.st_size,
                  static_cast<off_t>(room_kept)) == 0) {
    kept_until_ = bytes + room_kept;
    return true;
  }
  if (is_full(errno)) return false;
  can_keep_ = errno == EINTR;
  return true;
}

void OutputTail::give_room_back() {
  struct stat status {};
  if (kept_until_ == 0 || ::fstat(file_.get(), &status) != 0) return;
  // To the size that it has: blocks beyond it are freed.
  if (::ftruncate(file_.get(), status.st_size) == 0) kept_until_ = 0;
}

std::uint64_t OutputTail::cut_to(std::uint64_t bytes) {
  // Cutting a file frees what was kept beyond its end.
  kept_until_ = 0;
  const std::uint64_t beyond = at_ - std::min(at_, bytes);
  at_ -= beyond;
  return beyond;
}

}  // namespace piracema::ckpt
