#include "store/snapshot/snapshot_directory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/fd.h"
#include "base/text.h"
#include "store/disk/directory.h"
#include "store/disk/files.h"
#include "store/snapshot/part_format.h"
#include "store/snapshot/snapshot_paths.h"

namespace piracema::store {

namespace {

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Puts the mark of a snapshot directory into a new or empty one.
Result<Done> mark_directory(const std::string& path) {
  const std::string lock = SnapshotPaths(path).lock();
  const Fd fd(::open(lock.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!fd) return io_error(lock, "cannot create");
  if (auto synced = sync_directory(path); !synced) return synced;
  return sync_directory(parent_of(path));
}

}  // namespace

Result<std::string> find_snapshot_directory(const std::string& path, bool create) {
  std::error_code error;
  std::string whole = std::filesystem::absolute(path, error).lexically_normal().string();
  if (path.empty() || error) {
    return Error{Errc::config,
                 concat("want the name of a snapshot directory, found \"", path, "\"")};
  }
  while (whole.size() > 1 && whole.back() == '/') whole.pop_back();
  if (create) {
    if (auto made = make_directory(whole); !made) return made.error();
  }
  struct stat status {};
  if (::stat(whole.c_str(), &status) < 0) {
    if (errno != ENOENT) return io_error(whole, "cannot open");
    return Error{Errc::not_found, concat(whole, ": want a snapshot directory, found nothing")};
  }
  if (!S_ISDIR(status.st_mode)) {
    return Error{Errc::config, concat(whole, ": want a snapshot directory, found a file")};
  }

  // Any snapshot marks the directory as well: the loss of one file is not that of the job.
  bool marked = false;
  std::string other;
  auto read = each_name(whole, [&](std::string_view name) {
    if (name == lock_name || snapshot_of_folder(name)) marked = true;
    if (name != "lost+found") other = name;
    return !marked;
  });
  if (!read) return read.error();
  if (!marked && (!create || !other.empty())) {
    return Error{Errc::config,
                 concat(whole, ": want a snapshot directory, found ",
                        other.empty() ? "an empty one" : concat("one that holds \"", other, "\""))};
  }
  if (!marked) {
    if (auto done = mark_directory(whole); !done) return done.error();
  }
  return whole;
}

}  // namespace piracema::store
