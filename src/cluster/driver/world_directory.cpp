#include "cluster/driver/world_directory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/text.h"

namespace piracema::cluster {

namespace {

constexpr std::string_view name_begins = "piracema-world-";
// So many others that start at the very moment are not met in a row.
constexpr int tries_max = 1'000;

// The lock is the kernel's, and ends with the process that has it.
Fd lock(const std::string& directory) {
  Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.close();
  return fd;
}

std::vector<std::filesystem::path> entries_of(const std::string& directory) {
  std::error_code failed;
  std::vector<std::filesystem::path> all;
  for (std::filesystem::directory_iterator at(directory, failed), end; !failed && at != end;
       at.increment(failed)) {
    all.push_back(at->path());
  }
  return all;
}

// Others' are not ours to open, so they stay.
void remove_those_of_the_dead(const std::string& parent) {
  for (const auto& path : entries_of(parent)) {
    if (!path.filename().string().starts_with(name_begins)) continue;
    std::error_code ignored;
    if (const Fd held = lock(path.string())) std::filesystem::remove_all(path, ignored);
  }
}

bool is_at(const Fd& fd, const std::string& path) {
  struct stat held, found;
  return ::fstat(fd.get(), &held) == 0 && ::stat(path.c_str(), &found) == 0 &&
         held.st_ino == found.st_ino && held.st_dev == found.st_dev;
}

}  // namespace

Result<std::unique_ptr<WorldDirectory>> WorldDirectory::make(const std::string& parent) {
  remove_those_of_the_dead(parent);
  std::string path;
  for (int tries = 0; tries < tries_max; ++tries) {
    path = concat(parent, "/", name_begins, "XXXXXX");
    if (::mkdtemp(path.data()) == nullptr) {
      return Error{Errc::io, with_errno(concat("'", path, "'"))};
    }
    // Until it is locked another job that starts may take it for one of the dead, and what is
    // locked may be gone. Once it is, and is there, nobody else touches it.
    Fd held = lock(path);
    if (held && is_at(held, path)) {
      return std::unique_ptr<WorldDirectory>(new WorldDirectory(std::move(path), std::move(held)));
    }
    if (held || errno == EWOULDBLOCK || errno == ENOENT) continue;
    const Error error{Errc::io, with_errno(concat("locking '", path, "'"))};
    ::rmdir(path.c_str());
    return error;
  }
  return Error{Errc::io, concat("'", path, "': taken away by other jobs that start, as were ",
                                tries_max - 1, " before it")};
}

WorldDirectory::~WorldDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void WorldDirectory::clear() {
  std::error_code ignored;
  for (const auto& path : entries_of(path_)) std::filesystem::remove_all(path, ignored);
}

}  // namespace piracema::cluster
