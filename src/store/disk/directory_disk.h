#pragma once

#include <string>

#include "base/fd.h"
#include "store/disk/disk.h"

namespace piracema::store {

/// A directory of a local file system, locked for one user alone. Errors have the whole path and
/// the system's reason.
class DirectoryDisk final : public Disk {
 public:
  /// Makes the directory if need be (its parent exists) and locks it: `whom` says for what, in the
  /// error for the next who tries ("want it for one replica alone"). Errc::refused if another has
  /// it, Errc::config if the name is that of something else, Errc::io.
  static Result<std::unique_ptr<DirectoryDisk>> open(const std::string& path,
                                                     std::string_view whom);

  /// Use `open`.
  DirectoryDisk(std::string path, Fd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  Result<std::vector<std::string>> list() override;
  Result<std::unique_ptr<DiskFile>> create(const std::string& name, std::uint64_t bytes) override;
  Result<std::unique_ptr<DiskFile>> open(const std::string& name) override;
  Result<Done> replace(const std::string& name, std::span<const Bytes> pieces) override;
  Result<Done> remove(const std::string& name) override;
  Result<Done> sync_names() override;
  Result<Done> sync_files(std::span<const std::string> names,
                          const std::function<void()>& meanwhile) override;

  const std::string& path() const { return path_; }

 private:
  std::string path_of(const std::string& name) const;

  std::string path_;
  Fd lock_;
};

}  // namespace piracema::store
