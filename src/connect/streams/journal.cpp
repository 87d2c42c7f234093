#include <fcntl.h>
#include <piracema/detail/journal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "connect/files/file_holder.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::detail {

namespace {

constexpr std::string_view magic = "PIRAJRNL";
constexpr std::uint32_t version = 1;
// Magic, version, 4 bytes of nothing, and how long it is in the end.
constexpr std::uint64_t ended_at = 16, header_bytes = 24;
constexpr std::uint64_t not_ended = ~std::uint64_t{0};

[[noreturn]] void fail_journal(const std::string& path, std::string_view what) {
  throw std::runtime_error(concat("journal '", path, "' ", what));
}
[[noreturn]] void fail_journal_errno(const std::string& path, std::string_view what) {
  throw std::runtime_error(with_errno(concat("journal '", path, "' ", what)));
}

}  // namespace

void Journal::open(bool anew, std::uint64_t needed) {
  fd_ = OwnFd(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666));
  if (!fd_) fail_journal_errno(path_, "cannot be opened");
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) fail_journal_errno(path_, "cannot be looked at");
  if (!S_ISREG(status.st_mode)) fail_journal(path_, "cannot be used: want a regular file");
  bool waited = false;
  const auto holder = anew ? other_holder(fd_.get()) : wait_for_holder(fd_.get(), waited);
  if (waited && !holder) return open(anew, needed);
  if (holder) {
    fail_journal(path_, concat("is in use by ", *holder, ": every source of a job has its own"));
  }
  char header[header_bytes];
  const ssize_t got = ::pread(fd_.get(), header, sizeof header, 0);
  if (got < 0) fail_journal_errno(path_, "cannot be read");
  const auto found = static_cast<std::size_t>(got);
  const bool ours = found >= magic.size() && std::string_view(header, magic.size()) == magic;
  if (found != 0 && !ours)
    fail_journal(path_, "is no journal: name a file that may be written over");
  // A journal that was just made and never begun has no header.
  if (anew || found < header_bytes) return begin();

  wire::Reader reader(as_bytes(std::string_view(header, sizeof header)).subspan(magic.size()));
  const auto of_version = reader.number<std::uint32_t>();
  reader.number<std::uint32_t>();
  const auto ended = reader.number<std::uint64_t>();
  if (of_version != version) {
    fail_journal(path_, concat("has version ", of_version, ": want ", version));
  }
  length_ = static_cast<std::uint64_t>(status.st_size) - header_bytes;
  ended_ = ended != not_ended;
  if (length_ < needed || (ended_ && length_ != ended)) {
    fail_journal(path_,
                 concat("was changed: want ", ended_ ? ended : needed, " bytes, found ", length_));
  }
}

void Journal::begin() {
  if (::ftruncate(fd_.get(), 0) != 0) fail_journal_errno(path_, "cannot be emptied");
  Buffer header;
  wire::Writer writer(header);
  writer.raw(as_bytes(magic));
  writer.number(version);
  writer.number(std::uint32_t{0});
  writer.number(not_ended);
  write(0, reinterpret_cast<const char*>(header.data()), header.size());
  length_ = 0;
  ended_ = false;
}

void Journal::write(std::uint64_t at, const char* from, std::size_t count) const {
  while (count > 0) {
    const ssize_t wrote = ::pwrite(fd_.get(), from, count, static_cast<off_t>(at));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) fail_journal_errno(path_, concat("cannot be written at byte ", at));
    from += wrote;
    at += static_cast<std::uint64_t>(wrote);
    count -= static_cast<std::size_t>(wrote);
  }
}

void Journal::append(const char* from, std::size_t count) {
  write(header_bytes + length_, from, count);
  length_ += count;
}

std::ptrdiff_t Journal::take(int pipe, std::size_t count) {
  auto at = static_cast<off_t>(header_bytes + length_);
  ssize_t moved = 0;
  do {
    moved = ::splice(pipe, nullptr, fd_.get(), &at, count, SPLICE_F_NONBLOCK);
  } while (moved < 0 && errno == EINTR);
  if (moved > 0) length_ += static_cast<std::uint64_t>(moved);
  const bool of_pipe = moved >= 0 || errno == EAGAIN || errno == EINVAL;
  if (!of_pipe)
    fail_journal_errno(path_, concat("cannot be written at byte ", header_bytes + length_));
  return moved;
}

void Journal::end() {
  if (std::exchange(ended_, true)) return;
  Buffer length;
  wire::Writer(length).number(length_);
  write(ended_at, reinterpret_cast<const char*>(length.data()), length.size());
}

void Journal::sync() {
  if (fd_ && ::fdatasync(fd_.get()) != 0) fail_journal_errno(path_, "cannot be made durable");
}

std::size_t Journal::read(std::uint64_t offset, char* into, std::size_t count) const {
  ssize_t got = 0;
  do {
    got = ::pread(fd_.get(), into, count, static_cast<off_t>(header_bytes + offset));
  } while (got < 0 && errno == EINTR);
  if (got < 0) fail_journal_errno(path_, concat("cannot be read at byte ", header_bytes + offset));
  return static_cast<std::size_t>(got);
}

}  // namespace piracema::detail
