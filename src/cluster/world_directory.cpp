#include "cluster/world_directory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "base/text.h"

namespace piracema::cluster {

namespace {

constexpr std::string_view name_begins = "piracema-world-";

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

}  // namespace

Result<std::unique_ptr<WorldDirectory>> WorldDirectory::make(const std::string& parent) {
  remove_those_of_the_dead(parent);
  std::string path = concat(parent, "/", name_begins, "XXXXXX");
  if (::mkdtemp(path.data()) == nullptr) return Error{Errc::io, with_errno(concat("'", path, "'"))};
  // Until now another job may have taken it for one of the dead.
  Fd held = lock(path);
  if (!held) return Error{Errc::io, with_errno(concat("locking '", path, "'"))};
  return std::unique_ptr<WorldDirectory>(new WorldDirectory(std::move(path), std::move(held)));
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
