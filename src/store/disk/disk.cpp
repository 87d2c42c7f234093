#include "store/disk/disk.h"

#include "base/text.h"

namespace piracema::store {

Result<Done> Disk::sync_files(std::span<const std::string> names,
                              const std::function<void()>& meanwhile) {
  Result<Done> all = Done{};
  for (const std::string& name : names) {
    auto file = open(name);
    Result<Done> synced = file ? (*file)->sync() : Result<Done>(file.error());
    if (all && !synced) all = synced;
  }
  meanwhile();
  return all;
}

Result<Buffer> read_whole(Disk& disk, const std::string& name, std::uint64_t bytes_max) {
  auto file = disk.open(name);
  if (!file) return file.error();
  const std::uint64_t bytes = (*file)->bytes();
  if (bytes > bytes_max) {
    return Error{Errc::corrupt,
                 concat(name, ": want at most ", bytes_max, " bytes, found ", bytes)};
  }
  Buffer whole;
  whole.resize(static_cast<std::size_t>(bytes));
  if (auto read = (*file)->read(0, {whole.data(), whole.size()}); !read) return read.error();
  return whole;
}

}  // namespace piracema::store
