#include "base/log_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "base/text.h"

namespace piracema {

Result<LogFile> LogFile::open(std::string path) {
  LogFile file(std::move(path));
  if (auto opened = file.open_again(); !opened) {
    return Error{Errc::config, opened.error().message};
  }
  return file;
}

Result<Done> LogFile::append(std::string_view line, std::uint64_t bytes_max) {
  if (is_there() && !has_room(line.size(), bytes_max)) move_away();
  if (!is_there()) {
    if (auto opened = open_again(); !opened) return opened;
  }
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = ::write(file_.get(), line.data() + written, line.size() - written);
    if (count <= 0) break;
    written += static_cast<std::size_t>(count);
  }
  if (written == line.size()) return Done{};
  const Error error = failed();
  // What others have written behind it stays.
  const off_t end = ::lseek(file_.get(), 0, SEEK_CUR);
  struct stat now {};
  if (written > 0 && ::fstat(file_.get(), &now) == 0 && now.st_size == end) {
    (void)!::ftruncate(file_.get(), end - static_cast<off_t>(written));
  }
  return error;
}

Result<Done> LogFile::open_again() {
  // A process that was forked may have closed it with all others, and opened something else.
  if (!is_open()) (void)file_.release();
  file_ = Fd(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666));
  struct stat now {};
  if (!file_ || ::fstat(file_.get(), &now) != 0) return failed();
  device_ = now.st_dev;
  inode_ = now.st_ino;
  return Done{};
}

bool LogFile::is_open() const {
  struct stat now {};
  return ::fstat(file_.get(), &now) == 0 && now.st_dev == device_ && now.st_ino == inode_;
}

bool LogFile::is_there() const {
  struct stat there {};
  return is_open() && ::stat(path_.c_str(), &there) == 0 && there.st_dev == device_ &&
         there.st_ino == inode_;
}

bool LogFile::has_room(std::size_t bytes, std::uint64_t bytes_max) const {
  struct stat now {};
  // A line that is too long by itself has a file of its own.
  if (bytes_max == 0 || ::fstat(file_.get(), &now) != 0 || now.st_size <= 0) return true;
  return static_cast<std::uint64_t>(now.st_size) + bytes <= bytes_max;
}

// Under a lock, so that of two processes one moves it, and the other one does not move what the
// first has begun. Where that one is at it this one does not wait: it may be stopped. Its lines go
// beyond the bound meanwhile.
void LogFile::move_away() const {
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) return;
  if (is_there()) (void)!std::rename(path_.c_str(), (path_ + ".1").c_str());
  ::flock(file_.get(), LOCK_UN);
}

Error LogFile::failed() const {
  return {Errc::io, with_errno(concat(path_, ": cannot write a log there"))};
}

}  // namespace piracema
