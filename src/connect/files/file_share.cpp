#include <fcntl.h>
#include <piracema/detail/file_share.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>

#include "base/text.h"

namespace piracema::detail {

namespace {

constexpr std::size_t window_bytes = std::size_t{256} << 10;

[[noreturn]] void fail_input(const std::string& path, std::string_view what) {
  throw std::runtime_error(concat("input '", path, "' ", what));
}

[[noreturn]] void fail_input_errno(const std::string& path, std::string_view what) {
  throw std::runtime_error(with_errno(concat("input '", path, "' ", what)));
}

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "a special file";
}

}  // namespace

void FileShare::open(const Context& context, std::uint64_t unit) {
  // Without O_NONBLOCK a pipe would wait here for somebody to write to it.
  fd_ = OwnFd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd_) fail_input_errno(path_, "cannot be opened");
  const std::uint64_t found = size_now();
  replicas_ = context.replicas;
  if (begun_) {
    if (begin_ > position_ || begin_ > end_ || end_ > size_ || position_ > size_) {
      fail_input(path_,
                 "has a saved position that is outside of it: the snapshot is not of this job");
    }
    if (found < size_) {
      fail_input(path_, concat("was cut: want ", size_, " bytes, as at the start, found ", found));
    }
    return;
  }
  // Whole units, so that they are the same ones for any number of replicas.
  const std::uint64_t units = found / unit + (found % unit == 0 ? 0 : 1);
  const auto share_begin = [&](std::uint64_t replica) {
    const std::uint64_t first = units / context.replicas * replica +
                                std::min<std::uint64_t>(replica, units % context.replicas);
    return first == units ? found : first * unit;
  };
  size_ = found;
  begin_ = position_ = share_begin(context.replica);
  end_ = share_begin(context.replica + std::uint64_t{1});
  begun_ = true;
}

std::uint64_t FileShare::size_now() const {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) fail_input_errno(path_, "cannot be read");
  if (!S_ISREG(status.st_mode)) {
    fail_input(path_,
               concat("cannot be used: want a regular file, found ", kind_of(status.st_mode)));
  }
  return static_cast<std::uint64_t>(status.st_size);
}

bool FileShare::at_end() const {
  if (position_ < end_) return false;
  // Replicas that saw different sizes have shares that overlap or leave something out.
  if (replicas_ > 1) {
    const std::uint64_t found = size_now();
    if (found != size_) {
      fail_input(path_, concat("changed while it was read: want ", size_,
                               " bytes, as at the start, found ", found));
    }
  }
  return true;
}

void FileShare::read(std::uint64_t offset, char* into, std::size_t count) const {
  while (count > 0) {
    const ssize_t got = ::pread(fd_.get(), into, count, static_cast<off_t>(offset));
    if (got < 0) {
      if (errno == EINTR) continue;
      fail_input_errno(path_, concat("cannot be read at byte ", offset));
    }
    if (got == 0) {
      fail_input(path_, concat("was cut while it was read: want ", size_,
                               " bytes, as at the start, found ", offset));
    }
    into += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
}

std::string_view FileShare::some(std::uint64_t offset) {
  if (offset >= size_) return {};
  if (offset < window_offset_ || offset >= window_offset_ + window_.size()) {
    window_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(window_bytes, size_ - offset)));
    read(offset, window_.data(), window_.size());
    window_offset_ = offset;
  }
  return std::string_view(window_).substr(static_cast<std::size_t>(offset - window_offset_));
}

double FileShare::progress() const {
  if (begin_ == end_) return 1;
  const double done = static_cast<double>(position_ - begin_) / static_cast<double>(end_ - begin_);
  return std::min(done, 1.0);
}

}  // namespace piracema::detail
