#include "store/disk/file_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/hint.h"
#include "base/parse.h"
#include "base/text.h"

namespace piracema::store {

namespace {

// The number of the process that has signed, as far as the lock file says it.
std::string signature_of(int fd) {
  char text[16] = {};
  const ssize_t count = ::pread(fd, text, sizeof text - 1, 0);
  const std::string_view digits(text, count > 0 ? static_cast<std::size_t>(count) : 0);
  return std::string(
      digits.substr(0, std::min(digits.find_first_not_of("0123456789"), digits.size())));
}

// "process 123", or as much of that as the lock file says.
std::string holder_of(int fd) {
  const std::string signature = signature_of(fd);
  return signature.empty() ? "another process" : concat("process ", signature);
}

// Nobody on this host has the number of the process that has signed.
bool signer_is_gone(int fd) {
  const auto pid = parse_number<pid_t>(signature_of(fd));
  return pid && *pid > 0 && ::kill(*pid, 0) != 0 && errno == ESRCH;
}

Result<Fd> open_lock(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!fd) return io_error(path, "cannot open");
  return fd;
}

// The lock belongs to what was opened, not to the process, so it also keeps out a second store of
// this process, and closing another descriptor of the file does not give it up.
struct flock whole_file(short type = F_WRLCK) {
  struct flock whole {};
  whole.l_type = type;
  whole.l_whence = SEEK_SET;
  return whole;
}

// Only for the message that names the holder: a full disk does not matter.
void sign(const Fd& fd) {
  const std::string pid = concat(::getpid(), "\n");
  if (::ftruncate(fd.get(), 0) != 0) return;
  [[maybe_unused]] const auto count = ::pwrite(fd.get(), pid.data(), pid.size(), 0);
}

Result<Fd> try_to_lock(const std::string& path, std::string_view whom, short type) {
  auto fd = open_lock(path);
  if (!fd) return fd.error();
  struct flock whole = whole_file(type);
  if (::fcntl(fd->get(), F_OFD_SETLK, &whole) < 0) {
    if (errno != EAGAIN && errno != EACCES) return io_error(path, "cannot lock");
    return Error{Errc::refused,
                 with_hint(concat(path.substr(0, path.rfind('/')), ": want it for one ", whom,
                                  " alone, found it in use by ", holder_of(fd->get())),
                           "name another directory, or wait until that process has ended")};
  }
  return fd;
}

}  // namespace

Result<Fd> lock_file(const std::string& path, std::string_view whom) {
  auto fd = try_to_lock(path, whom, F_WRLCK);
  // A process that was killed while it began another one leaves its lock to it, until that one is a
  // program of its own. No event tells when.
  for (int again = 0; again < 100 && !fd && fd.error().code == Errc::refused; ++again) {
    const auto looked_at = open_lock(path);
    if (!looked_at || !signer_is_gone(looked_at->get())) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    fd = try_to_lock(path, whom, F_WRLCK);
  }
  if (fd) sign(*fd);
  return fd;
}

Result<Fd> lock_file_with_others(const std::string& path, std::string_view whom) {
  return try_to_lock(path, whom, F_RDLCK);
}

Result<Done> share_lock(const Fd& lock) {
  struct flock whole = whole_file(F_RDLCK);
  if (::fcntl(lock.get(), F_OFD_SETLK, &whole) < 0) {
    return Error{Errc::io, with_errno("sharing the lock of a directory")};
  }
  return Done{};
}

Result<Fd> wait_to_lock_file(const std::string& path) {
  auto fd = open_lock(path);
  if (!fd) return fd.error();
  struct flock whole = whole_file();
  while (::fcntl(fd->get(), F_OFD_SETLKW, &whole) < 0) {
    if (errno != EINTR) return io_error(path, "cannot lock");
  }
  sign(*fd);
  return fd;
}

}  // namespace piracema::store
