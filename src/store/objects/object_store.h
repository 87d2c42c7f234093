#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "store/objects/object_client.h"
#include "store/objects/object_lock.h"
#include "store/objects/object_part_reader.h"
#include "store/objects/object_place.h"
#include "store/snapshot/job_store.h"

namespace piracema::store {

/// Makes a client of the server, which has so much patience.
using ConnectToObjects =
    std::function<Result<std::unique_ptr<ObjectClient>>(const ObjectPatience& patience)>;

/// How long a store of objects waits for its server.
struct ObjectStoreSettings {
  ObjectPatience patience{};
  /// Of a store that is being opened: a name that is wrong is told soon.
  std::chrono::milliseconds open_for{5'000};
  Lease::Settings lease{};
};

/// Snapshots in objects on a server: in a bucket of S3, or in HDFS; in the bytes and under the
/// names of a directory's files (docs/formats/snapshot.md):
///
///     PREFIX/piracema.lock                   whose it is: a lease
///     PREFIX/000000000007/part-0003
///     PREFIX/000000000007/manifest.json      written last, and only if it is not there
///     PREFIX/savepoints/before-tuesday       written only if it is not there
///
/// Wants a server that lists what was just written, and writes under conditions.
class ObjectStore : public JobStore {
 public:
  /// Use `open`.
  ObjectStore(ObjectPlace place, ConnectToObjects connect, ObjectStoreSettings settings,
              std::unique_ptr<ObjectClient> client, std::string job);

  /// With `create` it may hold nothing. Errc::not_found if it does not; Errc::config if there is
  /// something else, which is never taken over; else as ObjectClient.
  static Result<std::unique_ptr<ObjectStore>> open(ObjectPlace place, ConnectToObjects connect,
                                                   bool create, ObjectStoreSettings settings = {});

  Result<Part> put(SnapshotId snapshot, ReplicaId replica, Bytes state) override;
  Result<std::unique_ptr<PartStream>> begin_part(SnapshotId snapshot, ReplicaId replica) override;
  using SnapshotStore::put;
  /// Where no answer comes (Errc::timeout) the snapshot may have become complete: whoever asks
  /// later sees whether it has. So it is while the store is locked and the lease could not be
  /// renewed.
  Result<Done> commit(const Manifest& manifest) override;
  Result<std::vector<SnapshotId>> list() override;
  Result<Manifest> manifest(SnapshotId snapshot) override;
  Result<Done> find(std::optional<SnapshotId> snapshot) override;
  Result<Buffer> get(SnapshotId snapshot, const Part& part) override {
    return parts_.get(snapshot, part);
  }
  Result<PartIndex> index(SnapshotId snapshot, const Part& part) override {
    return parts_.index({snapshot, part.replica}, &part);
  }
  Result<PartIndex> index(const PartFile& file) override { return parts_.index(file, nullptr); }
  Result<Buffer> read(const PartFile& file, std::uint64_t offset, std::uint64_t bytes) override {
    return parts_.read(file, offset, bytes);
  }
  Result<Savepoints> savepoints() override;
  Result<Done> delete_savepoint(const std::string& name) override;

  const std::string& name() const override { return place_.name; }
  using JobStore::lock;
  Result<std::shared_ptr<JobLock>> lock(const JobClaim& claim) override;

 private:
  class Stream;
  Result<bool> exists(const std::string& key);
  Result<bool> is_complete(SnapshotId snapshot) override {
    return exists(place_.manifest(snapshot));
  }
  Result<Done> remove(SnapshotId snapshot) override;
  Result<Done> write_savepoint(const std::string& name, SnapshotId snapshot) override;
  Result<bool> is_released(SnapshotId snapshot) override {
    return exists(place_.released(snapshot));
  }
  Result<Done> set_released(SnapshotId snapshot, bool released) override;
  /// No other job can have the store, if it was locked when it was opened or is locked by us.
  Result<Done> is_still_ours();
  /// It is not complete, and the store is still our job's: a worker that was cut off for long has
  /// nothing to put any more.
  Result<Done> can_be_put(SnapshotId snapshot);
  /// Numbers of all snapshots, complete or not, oldest first.
  Result<std::vector<SnapshotId>> numbers();
  Result<Done> clear(SnapshotId snapshot, const std::set<PartFile>& keep);

  const ObjectPlace place_;
  const ConnectToObjects connect_;
  const ObjectStoreSettings settings_;
  const std::unique_ptr<ObjectClient> client_;
  ObjectPartReader parts_;
  /// Which job's lease it was when the store was opened; empty: nobody's.
  const std::string job_;
  std::mutex mutex_;
  /// Ours, if we have it.
  std::weak_ptr<ObjectLock> lock_;
};

}  // namespace piracema::store
