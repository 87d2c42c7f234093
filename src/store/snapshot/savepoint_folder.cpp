#include "store/snapshot/savepoint_folder.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "base/text.h"
#include "store/disk/directory.h"
#include "store/disk/files.h"

namespace piracema::store {

Result<Done> SavepointFolder::add(const std::string& name, SnapshotId snapshot) const {
  const std::string folder = paths_.savepoints();
  if (auto made = make_directory(folder); !made) return made;
  auto file = NewFile::create(paths_.savepoint(name));
  if (!file) return file.error();
  const std::string text = encode_savepoint(name, snapshot);
  const std::array<Bytes, 1> pieces{as_bytes(text)};
  if (auto written = file->append(pieces); !written) return written;
  if (auto finished = file->finish_new(); !finished) return finished;
  if (auto synced = sync_directory(folder); !synced) return synced;
  return sync_directory(paths_.directory());
}

Result<Savepoints> SavepointFolder::all() const {
  Savepoints found;
  const std::string folder = paths_.savepoints();
  const auto any = exists(folder);
  if (!any) return any.error();
  if (!*any) return found;
  std::vector<std::string> names;
  auto looked = each_name(folder, [&](std::string_view name) {
    if (is_savepoint_name(name)) names.emplace_back(name);
    return true;
  });
  if (!looked) return looked.error();
  for (const std::string& name : names) {
    const std::string path = paths_.savepoint(name);
    const auto text = read_file(path, savepoint_bytes_max);
    if (!text && text.error().code == Errc::not_found) continue;  // Deleted since.
    if (!text) return text.error();
    const auto snapshot = decode_savepoint(path, name, *text);
    if (!snapshot) return snapshot.error();
    found.emplace(name, *snapshot);
  }
  return found;
}

Result<Done> SavepointFolder::remove(const std::string& name) const {
  if (auto fits = check_savepoint_name(name); !fits) return fits;
  const std::string path = paths_.savepoint(name);
  if (::unlink(path.c_str()) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) return io_error(path, "cannot remove");
    return Error{Errc::not_found, concat(path, ": no such savepoint")};
  }
  return sync_directory(paths_.savepoints());
}

}  // namespace piracema::store
