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

/// Writes `pieces`, one behind the other and without a copy, under a temporary name
/// ("PATH.tmp-…"), syncs them and renames the file to `path`: whatever happens, `path` is what it
/// was before or all of the pieces. The new name is durable after `sync_directory`. Errc::io with
/// the system's reason; then the temporary file is gone, unless the process is, too.
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
