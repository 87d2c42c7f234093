#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "store/snapshot/snapshot_store.h"

namespace piracema::store {

/// How often calls are refused, from 0 to 1. A part that is put in pieces is refused at its
/// beginning, on the way or at its end.
struct MemoryFaults {
  double put = 0;
  double commit = 0;
  std::uint64_t seed = 1;
};

/// Snapshots in memory, in the bytes of the directory's files: for the simulator and tests.
///
/// Whatever goes wrong is drawn from a seed or asked for, so a run can be repeated. What `put`
/// and `commit` have returned for is kept, as by a disk that tells the truth; a crash inside of
/// them is `crash_in_put` and `crash_in_commit`, one after them that the disk does not survive
/// unharmed is `damage`.
class MemoryStore : public SnapshotStore {
 public:
  explicit MemoryStore(MemoryFaults faults = {}) { set_faults(faults); }

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

  /// From now on, and begins anew with its seed. `{.put = 1}` is a full disk.
  void set_faults(MemoryFaults faults);

  /// The process ends inside of `put`: leaves what was there, or the part whole, torn, longer
  /// than it was written, or with a flipped bit.
  void crash_in_put(SnapshotId snapshot, ReplicaId replica, Bytes state, Random& random);

  /// The process ends inside of `commit`: leaves nothing, or the manifest whole, torn or with a
  /// flipped bit. (A correct directory leaves only the first two; a reader copes with all.)
  void crash_in_commit(const Manifest& manifest, Random& random);

  /// Cuts, flips a bit of or removes one file of a snapshot that is there. Says which, as
  /// "000000000007/part-0003". A manifest may be gone afterwards, and the snapshot with it; a bit
  /// in its white space may not matter.
  std::string damage(SnapshotId snapshot, Random& random);

 private:
  struct Files {
    std::optional<Buffer> manifest;
    std::map<ReplicaId, Buffer> parts;
    bool released = false;
  };

  bool has_manifest(SnapshotId snapshot) const;
  Result<bool> is_complete(SnapshotId snapshot) override;
  Result<Done> remove(SnapshotId snapshot) override;
  Result<Done> write_savepoint(const std::string& name, SnapshotId snapshot) override;
  Result<bool> is_released(SnapshotId snapshot) override;
  Result<Done> set_released(SnapshotId snapshot, bool released) override;
  std::set<PartFile> needed() const;
  /// `part` as the manifest has it, or null.
  Result<PartIndex> read_index(const PartFile& of, const Part* part);
  class Stream;
  Result<Done> can_be_put(SnapshotId snapshot) const;

  std::mutex mutex_;
  std::map<SnapshotId, Files> snapshots_;
  Savepoints savepoints_;
  MemoryFaults faults_;
  Random random_{1};
};

}  // namespace piracema::store
