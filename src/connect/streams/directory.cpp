#include <dirent.h>
#include <fcntl.h>
#include <piracema/directory.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <stdexcept>

#include "base/text.h"

namespace piracema {

namespace {

constexpr std::size_t file_piece_bytes = std::size_t{256} << 10;
constexpr std::uint32_t changes_wanted =
    IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR;

}  // namespace

void DirectoryLines::fail(const std::string& file, const std::string& what) const {
  throw std::runtime_error(
      concat("directory '", path_, "'", file.empty() ? "" : concat(": file '", file, "'"), what));
}

void DirectoryLines::start(const Context& context) {
  replica_ = context.replica;
  replicas_ = context.replicas;
  directory_ = detail::OwnFd(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory_) fail("", with_errno(" cannot be opened"));
  // Watched before it is looked through, so that nothing comes unseen between the two. Where the
  // system has no more watches, looking again has to do.
  changes_ = detail::OwnFd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (changes_ && ::inotify_add_watch(changes_.get(), path_.c_str(), changes_wanted) < 0) {
    changes_ = detail::OwnFd();
  }
  if (changes_) readiness_.start(changes_.get(), context.wake);
}

Poll<std::string> DirectoryLines::operator()() {
  for (;;) {
    if (file_ || open_next()) {
      if (auto line = next_line()) return *std::move(line);
      if (file_) continue;  // There was more in it meanwhile.
    } else if (look()) {
      continue;
    } else if (end_mark_) {
      return Poll<std::string>::end();
    } else {
      readiness_.ask();
      return Poll<std::string>::nothing_yet();
    }
  }
}

// False if nothing has changed. Where changes are not told one by one the whole directory is looked
// through.
bool DirectoryLines::look() {
  alignas(inotify_event) char events[16'384];
  bool all = !looked_ || std::chrono::steady_clock::now() - looked_at_ >= options_.rescan;
  bool some = false;
  ssize_t got = 0;
  while (changes_ && (got = ::read(changes_.get(), events, sizeof events)) > 0) {
    for (ssize_t at = 0; at < got;) {
      const auto* event = reinterpret_cast<const inotify_event*>(events + at);
      at += static_cast<ssize_t>(sizeof *event + event->len);
      const std::string name = event->len == 0 ? "" : event->name;
      const bool told = (event->mask & (IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE)) != 0;
      if (!told || name.empty() || name == options_.end_mark) all = true;
      if (!all) look_at(name);
      some = true;
    }
  }
  if (all) {
    look_through();
  } else if (some) {
    begin_with_first();
  }
  return all || some;
}

void DirectoryLines::begin_with_first() {
  std::sort(files_.begin(), files_.end(),
            [](const File& a, const File& b) { return a.name < b.name; });
  current_ = 0;
}

void DirectoryLines::look_through() {
  looked_ = true;
  looked_at_ = std::chrono::steady_clock::now();
  const int fd = ::openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> names(fd < 0 ? nullptr : ::fdopendir(fd), ::closedir);
  if (!names) fail("", with_errno(" cannot be read"));
  for (File& file : files_) file.is_there = false;
  // The mark may be made while we look: what was written before it is read all the same, as it is
  // found by another look after this one.
  const bool marked_before = end_mark_;
  end_mark_ = !options_.end_mark.empty() &&
              ::faccessat(directory_.get(), options_.end_mark.c_str(), F_OK, 0) == 0;
  errno = 0;
  while (const dirent* entry = ::readdir(names.get())) {
    look_at(entry->d_name);
    errno = 0;
  }
  if (errno != 0) fail("", with_errno(" cannot be read"));
  if (end_mark_ && !marked_before) looked_ = false;
  for (const File& file : files_) {
    if (!file.is_there && file.position < file.bytes) {
      fail(file.name,
           concat(" is gone: it was read up to byte ", file.position, " of ", file.bytes));
    }
  }
  std::erase_if(files_, [](const File& file) { return !file.is_there; });
  begin_with_first();
}

void DirectoryLines::look_at(const std::string& name) {
  if (name.starts_with('.') || name == options_.end_mark || !name.ends_with(options_.ending)) {
    return;
  }
  struct statx status {};
  if (::statx(directory_.get(), name.c_str(), AT_SYMLINK_NOFOLLOW,
              STATX_TYPE | STATX_INO | STATX_SIZE | STATX_BTIME, &status) != 0) {
    if (errno == ENOENT) return;
    fail(name, with_errno(" cannot be looked at"));
  }
  if (!S_ISREG(status.stx_mode)) return;
  File found{.inode = status.stx_ino, .name = name, .bytes = status.stx_size, .is_there = true};
  if ((status.stx_mask & STATX_BTIME) != 0) {
    found.made = status.stx_btime.tv_sec * 1'000'000'000 + status.stx_btime.tv_nsec;
  }
  const auto known = std::find_if(files_.begin(), files_.end(), [&](const File& file) {
    // A file system that does not tell the time has the name left.
    return file.inode == found.inode && file.made == found.made &&
           (found.made != 0 || file.name == found.name);
  });
  if (known == files_.end()) {
    if (is_mine(found)) files_.push_back(std::move(found));
    return;
  }
  if (found.bytes < known->position) {
    fail(name, concat(" was cut: want ", known->position, " bytes, found ", found.bytes));
  }
  found.position = known->position;
  *known = std::move(found);
}

bool DirectoryLines::is_mine(const File& file) const {
  const std::uint64_t number = mix(file.inode ^ mix(static_cast<std::uint64_t>(file.made)));
  return number % replicas_ == replica_;
}

// The next file that has more than was read of it.
bool DirectoryLines::open_next() {
  for (; looked_ && current_ < files_.size(); ++current_) {
    const File& file = files_[current_];
    if (file.position >= file.bytes) continue;
    file_ = detail::OwnFd(::openat(directory_.get(), file.name.c_str(),
                                   O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file_) fail(file.name, with_errno(" cannot be opened"));
    buffer_.clear();
    line_ = searched_ = 0;
    return true;
  }
  return false;
}

// Nothing, and no file open, when there is no whole line in it any more.
std::optional<std::string> DirectoryLines::next_line() {
  File& file = files_[current_];
  for (;;) {
    const std::size_t newline = buffer_.find('\n', searched_);
    const std::size_t end = std::min(newline, buffer_.size());
    if (end - line_ > options_.line_bytes_max) {
      fail(file.name, concat(": the line at byte ", file.position, ": want at most ",
                             options_.line_bytes_max, " bytes, found more"));
    }
    searched_ = end;
    if (newline != std::string::npos) {
      std::string line = buffer_.substr(line_, end - line_);
      file.position += line.size() + 1;
      line_ = searched_ = end + 1;
      return line;
    }
    if (read_more() != 0) continue;
    return finish_file(buffer_.substr(line_));
  }
}

std::size_t DirectoryLines::read_more() {
  buffer_.erase(0, line_);
  searched_ -= line_;
  line_ = 0;
  const std::size_t before = buffer_.size();
  const File& file = files_[current_];
  buffer_.resize(before + file_piece_bytes);
  ssize_t got = 0;
  do {
    got = ::pread(file_.get(), buffer_.data() + before, file_piece_bytes,
                  static_cast<off_t>(file.position + before));
  } while (got < 0 && errno == EINTR);
  buffer_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0)
    fail(file.name, with_errno(concat(" cannot be read at byte ", file.position + before)));
  return static_cast<std::size_t>(got);
}

// All that is there was read: the rest is a line once nothing can follow it.
std::optional<std::string> DirectoryLines::finish_file(std::string rest) {
  File& file = files_[current_];
  file_ = detail::OwnFd();
  current_ += 1;
  file.bytes = file.position;
  if (rest.empty() || !end_mark_ || !looked_) return std::nullopt;
  file.position += rest.size();
  file.bytes = file.position;
  return rest;
}

}  // namespace piracema
