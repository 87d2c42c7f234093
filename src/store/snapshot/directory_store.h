#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/fd.h"
#include "store/snapshot/job_store.h"

namespace piracema::store {

/// Snapshots in a directory of a file system, local or shared; docs/formats/snapshot.md.
///
///     DIR/piracema.lock                      what makes it a snapshot directory
///     DIR/000000000007/part-0003             one replica's state
///     DIR/000000000005/part-0003             what of it has not changed since snapshot 5
///     DIR/000000000007/manifest.json         makes snapshot 7 complete
///     DIR/savepoints/before-tuesday          keeps a snapshot by that name
///
/// Safe from any thread and process. A process that stopped inside `put` and wakes up after its
/// attempt was given up could still rename its part into place: it finds its snapshot complete
/// (Errc::refused) or gone, provided that no number is used for a second attempt.
class DirectoryStore : public JobStore {
 public:
  /// Use `open_directory_store`.
  explicit DirectoryStore(std::string path) : path_(std::move(path)) {}

  Result<Part> put(SnapshotId snapshot, ReplicaId replica, Bytes state) override;
  Result<std::unique_ptr<PartStream>> begin_part(SnapshotId snapshot, ReplicaId replica) override;
  using SnapshotStore::put;
  Result<Done> commit(const Manifest& manifest) override;
  Result<std::vector<SnapshotId>> list() override;
  Result<Manifest> manifest(SnapshotId snapshot) override;
  Result<Done> find(std::optional<SnapshotId> snapshot) override;
  Result<Buffer> get(SnapshotId snapshot, const Part& part) override;
  Result<PartIndex> index(SnapshotId snapshot, const Part& part) override;
  Result<PartIndex> index(const PartFile& file) override;
  Result<Buffer> read(const PartFile& file, std::uint64_t offset, std::uint64_t bytes) override;
  Result<Savepoints> savepoints() override;
  Result<Done> delete_savepoint(const std::string& name) override;

  const std::string& name() const override { return path_; }
  const std::string* directory() const override { return &path_; }
  /// Every copy of the locked file by fork keeps the lock, too, at the latest until the end of its
  /// process. Errc::refused names the process that has it.
  Result<std::shared_ptr<JobLock>> lock() override;
  /// The file that `lock` locks.
  std::string lock_path() const { return lock_path_in(path_); }
  static std::string lock_path_in(const std::string& directory);
  /// The same of that file, locked already.
  static std::shared_ptr<JobLock> as_lock(Fd locked);

  /// Removes attempts that never became complete and are older than `keep_from`.
  Result<Done> sweep(SnapshotId keep_from);

  /// Absolute.
  const std::string& path() const { return path_; }

 private:
  class Stream;

  std::string directory_of(SnapshotId snapshot) const;
  std::string manifest_path(SnapshotId snapshot) const;
  std::string part_path(SnapshotId snapshot, ReplicaId replica) const;
  std::string released_path(SnapshotId snapshot) const;
  std::string savepoint_path(const std::string& name) const;
  /// Has a manifest file, of whatever kind.
  Result<bool> has_manifest(SnapshotId snapshot) const;
  Result<bool> is_complete(SnapshotId snapshot) override { return has_manifest(snapshot); }
  Result<Done> remove(SnapshotId snapshot) override;
  Result<Done> write_savepoint(const std::string& name, SnapshotId snapshot) override;
  Result<bool> is_released(SnapshotId snapshot) override;
  Result<Done> set_released(SnapshotId snapshot, bool released) override;
  /// Its manifest's name is durable.
  Result<Done> sync_complete(SnapshotId snapshot);
  /// Errc::refused if the snapshot is complete.
  Result<Done> is_taken(SnapshotId snapshot) const;
  /// The same, and makes its directory.
  Result<Done> can_be_put(SnapshotId snapshot) const;
  /// `part` as the manifest has it, or null.
  Result<PartIndex> read_index(const PartFile& of, const Part* part);
  /// Removes what is in the directory of a snapshot without a manifest, but for files in `keep`.
  Result<Done> clear(SnapshotId snapshot, const std::set<PartFile>& keep);
  /// Numbers of all snapshots, complete or not, oldest first.
  Result<std::vector<SnapshotId>> numbers() const;

  std::string path_;
};

/// Opens a directory of snapshots. With `create` makes the directory (its parent exists), or
/// takes one that is empty. Errc::not_found if it does not exist, Errc::config if it exists and
/// is something else: it is never taken over. Errc::io with the system's reason.
Result<std::unique_ptr<DirectoryStore>> open_directory_store(const std::string& path, bool create);

}  // namespace piracema::store
