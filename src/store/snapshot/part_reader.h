#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <string>

#include "store/disk/files.h"
#include "store/snapshot/snapshot_store.h"

namespace piracema::store {

/// A part that lies in a file, checked as it is read. Errors are those of a SnapshotStore.
class PartReader {
 public:
  /// Errc::corrupt if there is no such file: whoever asks was told of it.
  static Result<PartReader> open(const std::string& path, const PartFile& of);

  /// All of it, of a part with states by key what it has beside. `part`: what the manifest says.
  Result<Buffer> state(const Part& part) const;
  /// `part`: what the manifest says of it; null if it is read because another part names it.
  Result<PartIndex> index(const Part* part) const;
  /// Of a part with states by key, so many bytes from there on.
  Result<Buffer> run(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  PartReader(ReadableFile file, const PartFile& of) : file_(std::move(file)), of_(of) {}

  ReadableFile file_;
  PartFile of_;
};

}  // namespace piracema::store
