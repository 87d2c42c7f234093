#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <span>
#include <string>

#include "base/fd.h"

/// Whole files, written so that a crash leaves all or nothing, and read as if by an enemy.
/// Safe from any thread and process. Every error names the path.
namespace piracema::store {

/// A file that is written piece by piece under a temporary name ("PATH.tmp-…"), and then takes the
/// place of `path`: whatever happens, `path` is what it was before or all of the pieces. Unless it
/// gets there the temporary file is gone with this object, or left to others by a process that is
/// killed. Errors are Errc::io with the system's reason; after one there is nothing to go on with.
class NewFile {
 public:
  static Result<NewFile> create(std::string path);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  /// One behind the other, without a copy.
  Result<Done> append(std::span<const Bytes> pieces);
  /// Over what was appended before.
  Result<Done> overwrite(std::uint64_t offset, Bytes bytes);
  /// Syncs it and renames it to `path`; the new name is durable after `sync_directory`. Once.
  Result<Done> finish();
  /// The same, unless something has that name already: Errc::refused.
  Result<Done> finish_new();

 private:
  NewFile(std::string path, std::string name, Fd fd);

  std::string path_;
  /// Empty once it is no longer temporary.
  std::string name_;
  Fd fd_;
};

/// All of that at once.
Result<Done> replace_file(const std::string& path, std::span<const Bytes> pieces);

/// Makes the names in a directory durable. Errc::io.
Result<Done> sync_directory(const std::string& path);

/// A regular file, open for reading.
struct ReadableFile {
  std::string path;
  Fd fd;
  /// Its size when it was opened.
  std::uint64_t bytes = 0;
};

/// Errc::not_found if nothing is there, Errc::corrupt if it is not a regular file (a symbolic
/// link, a directory, a pipe), Errc::io for any other reason of the system.
Result<ReadableFile> open_for_reading(std::string path);

/// Fills `room` from `offset` on. Errc::corrupt if the file has become too short.
Result<Done> read_at(const ReadableFile& file, std::uint64_t offset, std::span<std::byte> room);

/// The whole file. Errors as `open_for_reading`, and Errc::corrupt above `bytes_max`.
Result<Buffer> read_file(const std::string& path, std::uint64_t bytes_max);

}  // namespace piracema::store
