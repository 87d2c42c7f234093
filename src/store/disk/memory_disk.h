#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "store/disk/disk.h"

namespace piracema::store {

/// What a crash does to what was not synced.
struct CrashHabits {
  /// How often a sector of 512 bytes is lost, from 0 to 1; and a name made or removed.
  double loss = 0.5;
  /// How often a sector that is not lost has only its beginning.
  double tear = 0.1;
};

/// A disk in memory for tests and the simulator, as bad as disks are allowed to be and, when asked,
/// worse. All chance comes from the seed. One thread at a time, its files included.
///
/// The owner of a disk outlives those who use it: after `crash` or `stop`, what was opened before
/// gives Errc::io, as does every call after `stop_after`, until `start`.
class MemoryDisk final : public Disk {
 public:
  explicit MemoryDisk(std::uint64_t seed = 1, CrashHabits habits = {});
  ~MemoryDisk() override;

  Result<std::vector<std::string>> list() override;
  Result<std::unique_ptr<DiskFile>> create(const std::string& name, std::uint64_t bytes) override;
  Result<std::unique_ptr<DiskFile>> open(const std::string& name) override;
  Result<Done> replace(const std::string& name, std::span<const Bytes> pieces) override;
  Result<Done> remove(const std::string& name) override;
  Result<Done> sync_names() override;

  /// The power fails and comes back: of what was not synced, any part is lost. Starts, too.
  void crash();
  /// The process ends and another one begins: nothing is lost. Starts, too.
  void restart();
  /// So many calls that change something still do it; then every call is an error until `crash` or
  /// `restart`: a crash at each step of whatever is tested.
  void stop_after(std::uint64_t calls);
  /// Nothing is left, as after a change of disks.
  void lose_everything();

  /// The next `count` syncs fail. What they should have made durable is lost with the next crash,
  /// whatever is synced later: the kernel has dropped it (Rebello et al., USENIX ATC 2020).
  void fail_syncs(std::uint64_t count) { failing_syncs_ = count; }
  /// Files may have so many bytes together; more cannot be created.
  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }
  /// The next write goes to another place of its file, so many bytes further on (or back to the
  /// beginning, if that is outside of it), and says that all is well.
  void misdirect_next_write(std::uint64_t by) { misdirect_by_ = by; }
  /// Damages what is kept: inverts the bytes from `offset` on, as far as the file has them. False
  /// if there is no such file.
  bool rot(const std::string& name, std::uint64_t offset, std::uint64_t bytes);
  /// Damages a bit somewhere in one of the files whose names begin with `prefix`, among the bytes
  /// that are not zero: unwritten room is of no interest. False if there are none.
  bool rot_somewhere(std::string_view prefix);

  std::uint64_t syncs() const { return syncs_; }
  /// Bytes of all files.
  std::uint64_t used() const;

 private:
  struct File;
  class Handle;
  struct NameChange {
    std::string name;
    std::shared_ptr<File> file;  ///< Null if it was removed.
  };

  Result<Done> change();
  Result<Done> sync_call();
  void lose_unsynced(File& file);

  Random random_;
  const CrashHabits habits_;
  /// As a process sees them, and as they would be after a crash that loses all it may.
  std::map<std::string, std::shared_ptr<File>> names_, durable_names_;
  std::vector<NameChange> name_changes_;
  /// Raised by whatever ends the process that uses the disk.
  std::uint64_t life_ = 0;
  std::uint64_t calls_left_, capacity_, failing_syncs_ = 0, misdirect_by_ = 0, syncs_ = 0;
};

}  // namespace piracema::store
