#include <fcntl.h>
#include <piracema/detail/output_file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <stdexcept>

#include "base/text.h"
#include "connect/files/file_holder.h"

namespace piracema::detail {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{256} << 10;

[[noreturn]] void fail_output(const std::string& path, std::string_view what) {
  throw std::runtime_error(concat("output '", path, "' ", what));
}
[[noreturn]] void fail_output_errno(const std::string& path, std::string_view what) {
  throw std::runtime_error(with_errno(concat("output '", path, "' ", what)));
}

using Status = struct stat;

std::optional<Status> status_of(const std::string& path) {
  Status status{};
  if (::stat(path.c_str(), &status) == 0) return status;
  if (errno != ENOENT) fail_output_errno(path, "cannot be looked at");
  return std::nullopt;
}

Status status_of(const OwnFd& fd, const std::string& path) {
  Status status{};
  if (::fstat(fd.get(), &status) != 0) fail_output_errno(path, "cannot be looked at");
  return status;
}

bool same_file(const Status& a, const Status& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

void write_all(int fd, const char* from, std::size_t count, std::uint64_t offset,
               const std::string& path) {
  while (count > 0) {
    const ssize_t wrote = ::pwrite(fd, from, count, static_cast<off_t>(offset));
    if (wrote < 0) {
      if (errno == EINTR) continue;
      fail_output_errno(path, concat("cannot be written at byte ", offset));
    }
    from += wrote;
    offset += static_cast<std::uint64_t>(wrote);
    count -= static_cast<std::size_t>(wrote);
  }
}

// A name that was made or changed survives the machine only with its directory.
void sync_directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "."
                                : slash == 0               ? "/"
                                                           : path.substr(0, slash);
  const OwnFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems do not know it (EINVAL): then there is nothing more to be done.
  if (!fd || (::fsync(fd.get()) != 0 && errno != EINVAL)) {
    fail_output_errno(path, concat("cannot be made durable in '", directory, "'"));
  }
}

// Shares the blocks where the file system can, instead of copying them.
void copy_bytes(int from, int to, std::uint64_t count, const std::string& path) {
  off_t read_at = 0, write_at = 0;
  std::uint64_t left = count;
  while (left > 0) {
    const ssize_t copied = ::copy_file_range(from, &read_at, to, &write_at, left, 0);
    if (copied <= 0) break;
    left -= static_cast<std::uint64_t>(copied);
  }
  std::string bytes(buffer_bytes, '\0');
  while (left > 0) {
    const ssize_t got = ::pread(from, bytes.data(), std::min<std::uint64_t>(bytes.size(), left),
                                static_cast<off_t>(count - left));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail_output_errno(path, "cannot be read back");
    write_all(to, bytes.data(), static_cast<std::size_t>(got), count - left, path);
    left -= static_cast<std::uint64_t>(got);
  }
}

}  // namespace

void OutputFile::start(const Context& context) {
  if (path_.empty()) fail_output(path_, "cannot be created: want the name of a file, found none");
  if (context.replicas > 1) path_ += concat('.', context.replica);
  buffer_.clear();
  buffer_.reserve(buffer_bytes);
  begins_job_ = context.begins_job;
  if (!begun_) return create(context);
  if (!finished_) return reopen(context.previous_may_live);
  const auto found = status_of(path_);
  if (!found || static_cast<std::uint64_t>(found->st_size) != durable_) {
    fail_output(path_, concat("was complete with ", durable_, " bytes, found ",
                              found ? concat(found->st_size) : "none"));
  }
  written_ = durable_;
}

// Two jobs that write to one file are told apart by a lock on it: the second one must not remove
// what the first one has open. A former writer that may yet wake up keeps its lock, and gets a file
// without a name instead; one that is about to go is waited for. False if it had to wait: much may
// have happened to the file.
bool OutputFile::hold() {
  bool waited = false;
  const auto holder = begins_job_ ? other_holder(fd_.get()) : wait_for_holder(fd_.get(), waited);
  if (holder) {
    fail_output(path_, concat("is being written by ", *holder, ": every job wants its own"));
  }
  return !waited;
}

// What a stopped job left is not written to again: its process may still be there.
void OutputFile::remove_left() {
  fd_ = OwnFd(::open(partial().c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (!fd_) {
    if (errno != ENOENT) fail_output_errno(partial(), "cannot be opened to be removed");
    return;
  }
  hold();
  // Somebody else may have removed it meanwhile, and made a new one, whose lock we do not have.
  const auto named = status_of(partial());
  if (named && !same_file(*named, status_of(fd_, partial()))) return remove_left();
  if (::unlink(partial().c_str()) != 0 && errno != ENOENT) {
    fail_output_errno(partial(), "cannot be removed");
  }
}

void OutputFile::create(const Context& context) {
  // What was complete before the loss of a job that has no snapshot yet is its own, and void.
  const bool may_replace = overwrite_ || context.started_before;
  if (const auto found = status_of(path_)) {
    if (!S_ISREG(found->st_mode)) fail_output(path_, "exists and is not a regular file");
    if (!may_replace) fail_output(path_, "exists: remove it or ask to overwrite");
  } else if (Status link{}; !overwrite_ && ::lstat(path_.c_str(), &link) == 0) {
    fail_output(path_, "is a link to nothing: remove it or ask to overwrite");
  }
  if (!context.previous_may_live) {
    remove_left();
  } else if (::unlink(partial().c_str()) != 0 && errno != ENOENT) {
    fail_output_errno(partial(), "cannot be removed");
  }
  // From here on a former writer has nothing left to give its last name to.
  if (context.started_before && !overwrite_ && ::unlink(path_.c_str()) != 0 && errno != ENOENT) {
    fail_output_errno(path_, "cannot be removed");
  }
  fd_ = OwnFd(::open(partial().c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd_) fail_output_errno(partial(), "cannot be created");
  hold();
  sync_directory_of(path_);
  begun_ = true;
}

void OutputFile::reopen(bool previous_may_live) {
  // After that snapshot it may have been finished already.
  if (!status_of(partial())) {
    const auto whole = status_of(path_);
    if (whole && S_ISREG(whole->st_mode) &&
        static_cast<std::uint64_t>(whole->st_size) >= durable_ &&
        ::rename(path_.c_str(), partial().c_str()) != 0) {
      fail_output_errno(path_, concat("cannot be renamed to '", partial(), "'"));
    }
  }
  fd_ = OwnFd(::open(partial().c_str(), O_RDWR | O_CLOEXEC));
  if (!fd_) fail_output_errno(partial(), "cannot be opened again");
  const auto found = static_cast<std::uint64_t>(status_of(fd_, partial()).st_size);
  if (found < durable_) {
    fail_output(partial(), concat("was cut: want at least ", durable_, " bytes, found ", found));
  }
  if (!previous_may_live && !hold()) return reopen(previous_may_live);
  if (previous_may_live) {
    take_over();
    hold();
  } else if (::ftruncate(fd_.get(), static_cast<off_t>(durable_)) != 0) {
    fail_output_errno(partial(), concat("cannot be cut to ", durable_, " bytes"));
  }
  written_ = durable_;
}

// The former writer may wake up at any time and write to what it has open: that becomes a file
// without a name.
void OutputFile::take_over() {
  const std::string fresh = partial() + ".new";
  if (::unlink(fresh.c_str()) != 0 && errno != ENOENT)
    fail_output_errno(fresh, "cannot be removed");
  OwnFd copy(::open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!copy) fail_output_errno(fresh, "cannot be created");
  copy_bytes(fd_.get(), copy.get(), durable_, fresh);
  if (::fsync(copy.get()) != 0) fail_output_errno(fresh, "cannot be made durable");
  if (::rename(fresh.c_str(), partial().c_str()) != 0) {
    fail_output_errno(fresh, concat("cannot be renamed to '", partial(), "'"));
  }
  // It may have finished just before, and given its file the last name.
  const auto whole = status_of(path_);
  if (whole && same_file(*whole, status_of(fd_, partial()))) ::unlink(path_.c_str());
  sync_directory_of(path_);
  fd_ = std::move(copy);
}

void OutputFile::append(const char* from, std::size_t count) {
  if (buffer_.size() + count > buffer_bytes) flush();
  if (count < buffer_bytes) {
    buffer_.append(from, count);
    return;
  }
  write_all(fd_.get(), from, count, written_, partial());
  written_ += count;
}

void OutputFile::flush() {
  write_all(fd_.get(), buffer_.data(), buffer_.size(), written_, partial());
  written_ += buffer_.size();
  buffer_.clear();
}

void OutputFile::prepare() {
  if (finished_) return;
  flush();
  if (::fdatasync(fd_.get()) != 0) fail_output_errno(partial(), "cannot be made durable");
  durable_ = written_;
}

void OutputFile::finish() {
  if (finished_) return;
  prepare();
  const Status own = status_of(fd_, partial());
  const auto named = status_of(partial());
  if (named && same_file(*named, own)) {
    const unsigned flags = overwrite_ ? 0 : RENAME_NOREPLACE;
    int renamed = ::renameat2(AT_FDCWD, partial().c_str(), AT_FDCWD, path_.c_str(), flags);
    // Not every file system knows the flag.
    if (renamed != 0 && errno == EINVAL && !status_of(path_)) {
      renamed = ::rename(partial().c_str(), path_.c_str());
    }
    if (renamed != 0) fail_output_errno(partial(), concat("cannot be renamed to '", path_, "'"));
  } else {
    // A former writer that woke up may have renamed our file for us; else it is we who slept.
    const auto whole = status_of(path_);
    if (!whole || !same_file(*whole, own)) fail_output(path_, "was taken over by another process");
  }
  sync_directory_of(path_);
  finished_ = true;
  fd_ = OwnFd();
}

}  // namespace piracema::detail
