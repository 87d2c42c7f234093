#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Where bytes are kept that a process has promised to remember. The seam that the simulator takes
/// the place of: `DirectoryDisk` is a directory, `MemoryDisk` one that loses and damages what it
/// may.
///
/// After any Errc::io of a write or a sync nobody knows what is on the disk, and a later sync that
/// succeeds says nothing about what went before it: the kernel may have dropped what it could not
/// write. Whoever gets one stops writing, and reads again after a restart.
namespace piracema::store {

/// An open file, as long as it was made. One thread at a time. Every error names the file.
class DiskFile {
 public:
  virtual ~DiskFile() = default;

  virtual std::uint64_t bytes() const = 0;
  /// Fills `room`. Errc::corrupt if the file has become too short, Errc::io.
  virtual Result<Done> read(std::uint64_t offset, std::span<std::byte> room) = 0;
  /// Within the file. Until a `sync` a crash may keep any part of it, or none. Errc::io.
  virtual Result<Done> write(std::uint64_t offset, Bytes bytes) = 0;
  /// All that was written to this file survives a crash. Errc::io.
  virtual Result<Done> sync() = 0;
};

/// A flat set of named files. A DirectoryDisk may be used by any thread, each file that is open by
/// one at a time; a MemoryDisk, with all of its files, by one. Names are letters, digits, '-', '_'
/// and '.', not '.' first, at most 100.
class Disk {
 public:
  virtual ~Disk() = default;

  /// Names of all files, in order. Errc::io.
  virtual Result<std::vector<std::string>> list() = 0;

  /// Makes a file of so many zero bytes, with room for them, in place of one of this name. The
  /// name survives a crash after `sync_names`. Errc::io, as when there is no room.
  virtual Result<std::unique_ptr<DiskFile>> create(const std::string& name,
                                                   std::uint64_t bytes) = 0;
  /// Errc::not_found; Errc::corrupt if it is no regular file; Errc::io.
  virtual Result<std::unique_ptr<DiskFile>> open(const std::string& name) = 0;

  /// A small file, or a large one that is written once: whatever happens, it is what it was or all
  /// of the pieces; and when this returns without an error, these, for good. Errc::io.
  virtual Result<Done> replace(const std::string& name, std::span<const Bytes> pieces) = 0;

  /// No error if there is none. Gone for good after `sync_names`. Errc::io.
  virtual Result<Done> remove(const std::string& name) = 0;
  /// Names made and removed so far survive a crash as they are. Errc::io.
  virtual Result<Done> sync_names() = 0;

  /// All that was written to these files survives a crash; they are synced several at a time where
  /// the disk can, and `meanwhile` is run by the caller's thread while that goes on. Nobody writes
  /// to them. Errors as `open` and `DiskFile::sync`; `meanwhile` is run to its end all the same.
  virtual Result<Done> sync_files(std::span<const std::string> names,
                                  const std::function<void()>& meanwhile);
};

/// The whole file. Errors as `Disk::open`; Errc::corrupt if it is larger than `bytes_max`.
Result<Buffer> read_whole(Disk& disk, const std::string& name, std::uint64_t bytes_max);

}  // namespace piracema::store
