#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/snapshot/job_store.h"
#include "store/snapshot/part_reader.h"
#include "store/snapshot/savepoint_folder.h"
#include "store/snapshot/snapshot_paths.h"

namespace piracema::store {

/// Snapshots in a directory of a file system, local or shared (SnapshotPaths).
///
/// Safe from any thread and process. A process that stopped inside `put` and wakes up after its
/// attempt was given up could still rename its part into place: it finds its snapshot complete
/// (Errc::refused) or gone, provided that no number is used for a second attempt.
class DirectoryStore : public JobStore {
 public:
  /// Use `open_directory_store`.
  explicit DirectoryStore(std::string path) : paths_(std::move(path)) {}

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
  Result<Savepoints> savepoints() override { return names_.all(); }
  Result<Done> delete_savepoint(const std::string& name) override { return names_.remove(name); }

  const std::string& name() const override { return paths_.directory(); }
  const std::string* directory() const override { return &paths_.directory(); }
  using JobStore::lock;
  Result<std::shared_ptr<JobLock>> lock(const JobClaim&) override;

  /// Removes attempts that never became complete and are older than `keep_from`.
  Result<Done> sweep(SnapshotId keep_from);

  /// Absolute.
  const std::string& path() const { return paths_.directory(); }

 private:
  /// Has a manifest file, of whatever kind.
  Result<bool> has_manifest(SnapshotId snapshot) const;
  Result<bool> is_complete(SnapshotId snapshot) override { return has_manifest(snapshot); }
  Result<Done> remove(SnapshotId snapshot) override;
  Result<Done> write_savepoint(const std::string& name, SnapshotId snapshot) override {
    return names_.add(name, snapshot);
  }
  Result<bool> is_released(SnapshotId snapshot) override;
  Result<Done> set_released(SnapshotId snapshot, bool released) override;
  /// Its manifest's name is durable.
  Result<Done> sync_complete(SnapshotId snapshot);
  /// Errc::refused if the snapshot is complete.
  Result<Done> is_taken(SnapshotId snapshot) const;
  /// The same, and makes its directory.
  Result<Done> can_be_put(SnapshotId snapshot) const;
  Result<PartReader> open(const PartFile& file) const;
  /// Removes what is in the directory of a snapshot without a manifest, but for files in `keep`.
  Result<Done> clear(SnapshotId snapshot, const std::set<PartFile>& keep);
  /// Numbers of all snapshots, complete or not, oldest first.
  Result<std::vector<SnapshotId>> numbers() const;

  const SnapshotPaths paths_;
  const SavepointFolder names_{paths_};
};

/// `find_snapshot_directory` says which there are, and why not.
Result<std::unique_ptr<DirectoryStore>> open_directory_store(const std::string& path, bool create);

}  // namespace piracema::store
