#include "store/disk/directory.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "base/text.h"

namespace piracema::store {

Result<Done> each_name(const std::string& path,
                       const std::function<bool(std::string_view)>& visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
  if (!directory) return io_error(path, "cannot open directory");
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && !visit(name)) break;
  }
  if (errno != 0) return io_error(path, "cannot read directory");
  return Done{};
}

Result<bool> exists(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return io_error(path, "cannot look for it");
}

Result<Done> make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return Done{};
  return io_error(path, "cannot make directory");
}

Result<Done> remove_name(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return Done{};
  return io_error(path, "cannot remove");
}

}  // namespace piracema::store
