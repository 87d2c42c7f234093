#include "store/disk/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "base/retry.h"
#include "base/text.h"

namespace piracema::store {

namespace {

// Makes a file of a name that no other thread, process or machine is using: O_EXCL decides.
Fd create_beside(const std::string& path, std::string& name) {
  static std::atomic<std::uint64_t> counter{0};
  for (;;) {
    name = concat(path, ".tmp-", ::getpid(), "-", counter.fetch_add(1));
    Fd fd(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (fd || (errno != EEXIST && errno != EINTR)) return fd;
  }
}

// The kernel writes at most 2 GiB a call and may write less: what is left is offered again.
Result<Done> write_all(int fd, const std::string& path, std::span<const Bytes> pieces) {
  std::vector<iovec> left;
  for (const Bytes piece : pieces) {
    if (!piece.empty()) left.push_back({const_cast<std::byte*>(piece.data()), piece.size()});
  }
  std::size_t first = 0;
  while (first < left.size()) {
    const auto count = static_cast<int>(std::min<std::size_t>(left.size() - first, 64));
    const ssize_t written = retry([&] { return ::writev(fd, left.data() + first, count); });
    if (written < 0) return io_error(path, "cannot write");
    auto done = static_cast<std::size_t>(written);
    while (first < left.size() && done >= left[first].iov_len) done -= left[first++].iov_len;
    if (done > 0) {
      left[first].iov_base = static_cast<std::byte*>(left[first].iov_base) + done;
      left[first].iov_len -= done;
    }
  }
  return Done{};
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

NewFile::NewFile(std::string path, std::string name, Fd fd)
    : path_(std::move(path)), name_(std::move(name)), fd_(std::move(fd)) {}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)),
      name_(std::exchange(other.name_, {})),
      fd_(std::move(other.fd_)) {}

NewFile::~NewFile() {
  if (!name_.empty()) ::unlink(name_.c_str());
}

Result<NewFile> NewFile::create(std::string path) {
  std::string name;
  Fd fd = create_beside(path, name);
  if (!fd) return io_error(path, "cannot create");
  return NewFile(std::move(path), std::move(name), std::move(fd));
}

Result<Done> NewFile::append(std::span<const Bytes> pieces) {
  return write_all(fd_.get(), path_, pieces);
}

Result<Done> NewFile::overwrite(std::uint64_t offset, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t written = retry([&] {
      return ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    });
    if (written < 0) return io_error(path_, "cannot write");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return Done{};
}

Result<Done> NewFile::finish() {
  ENSURE(!name_.empty());
  if (retry([&] { return ::fdatasync(fd_.get()); }) < 0) return io_error(path_, "cannot sync");
  if (::rename(name_.c_str(), path_.c_str()) < 0) return io_error(path_, "cannot rename to it");
  name_.clear();
  return Done{};
}

Result<Done> NewFile::finish_new() {
  ENSURE(!name_.empty());
  if (retry([&] { return ::fdatasync(fd_.get()); }) < 0) return io_error(path_, "cannot sync");
  if (::link(name_.c_str(), path_.c_str()) < 0) {
    if (errno == EEXIST) return Error{Errc::refused, concat(path_, ": is there already")};
    return io_error(path_, "cannot link to it");
  }
  return Done{};  // The temporary name goes with this object.
}

Result<Done> replace_file(const std::string& path, std::span<const Bytes> pieces) {
  auto file = NewFile::create(path);
  if (!file) return file.error();
  if (auto written = file->append(pieces); !written) return written;
  return file->finish();
}

Result<Done> sync_directory(const std::string& path) {
  const Fd fd(retry([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!fd) return io_error(path, "cannot open directory");
  // EINVAL: a file system that has no such operation writes its names at once.
  if (retry([&] { return ::fsync(fd.get()); }) < 0 && errno != EINVAL) {
    return io_error(path, "cannot sync directory");
  }
  return Done{};
}

Result<ReadableFile> open_for_reading(std::string path) {
  struct stat status {};
  const auto none = [&] { return Error{Errc::not_found, concat(path, ": no such file")}; };
  if (::lstat(path.c_str(), &status) < 0) {
    if (errno == ENOENT) return none();
    return io_error(path, "cannot open");
  }
  if (S_ISREG(status.st_mode)) {
    // What the name stands for may change in between, so the open file is asked again; and a
    // pipe would block an open that waits.
    Fd fd(retry(
        [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); }));
    // It may have been removed in between.
    if (!fd && errno == ENOENT) return none();
    if (!fd) return io_error(path, "cannot open");
    if (::fstat(fd.get(), &status) < 0) return io_error(path, "cannot open");
    if (S_ISREG(status.st_mode)) {
      const auto bytes = static_cast<std::uint64_t>(status.st_size);
      return ReadableFile{std::move(path), std::move(fd), bytes};
    }
  }
  return Error{Errc::corrupt,
               concat(path, ": want a regular file, found ", kind_of(status.st_mode))};
}

namespace {
/// Fills the front of `room`, which is then what is left: nothing, or the file was too short, or
/// the errno that is returned is why.
int read_into(const Fd& file, std::uint64_t offset, std::span<std::byte>& room) {
  while (!room.empty()) {
    const ssize_t count = retry(
        [&] { return ::pread(file.get(), room.data(), room.size(), static_cast<off_t>(offset)); });
    if (count < 0) return errno;
    if (count == 0) return 0;
    room = room.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return 0;
}

Result<Done> as_read(const ReadableFile& file, int error, std::size_t want, std::size_t left) {
  errno = error;
  if (error != 0) return io_error(file.path, "cannot read");
  if (left == 0) return Done{};
  return Error{Errc::corrupt, concat(file.path, ": want ", want, " more bytes, found ", want - left,
                                     ": the file was cut")};
}
}  // namespace

Result<Done> read_at(const ReadableFile& file, std::uint64_t offset, std::span<std::byte> room) {
  const std::size_t want = room.size();
  const int error = read_into(file.fd, offset, room);
  return as_read(file, error, want, room.size());
}

Result<Buffer> read_file(const std::string& path, std::uint64_t bytes_max) {
  // A file system of several hosts does not keep a file that another one removes, or replaces,
  // while it is open here: then what has the name now is read.
  for (int tries_left = 3;; --tries_left) {
    auto file = open_for_reading(path);
    if (!file) return file.error();
    if (file->bytes > bytes_max) {
      return Error{Errc::corrupt,
                   concat(path, ": want at most ", bytes_max, " bytes, found ", file->bytes)};
    }
    Buffer whole;
    whole.resize(static_cast<std::size_t>(file->bytes));
    std::span<std::byte> room(whole.data(), whole.size());
    const int error = read_into(file->fd, 0, room);
    const bool is_gone = error == ESTALE || error == ENOENT;  // As NFS and Gluster have it.
    if (is_gone && tries_left > 0) continue;
    if (auto read = as_read(*file, error, whole.size(), room.size()); !read) return read.error();
    return whole;
  }
}

}  // namespace piracema::store
