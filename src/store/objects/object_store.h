#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "store/objects/object_client.h"
#include "store/objects/object_lock.h"
#include "store/snapshot/job_store.h"
#include "store/snapshot/part_format.h"

namespace piracema::store {

/// Where the objects of a store are, and how they are called.
struct ObjectPlace {
  /// What a user calls it: "s3://bucket/prefix".
  std::string name;
  /// What all of their names begin with, without a slash at either end; empty: nothing.
  std::string prefix;
  /// What is before such a name where people look for it: "s3://bucket/".
  std::string root;

  /// The object's name on its server.
  std::string key(const std::string& rest) const {
    return prefix.empty() ? rest : prefix + "/" + rest;
  }
};

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
  Result<Buffer> get(SnapshotId snapshot, const Part& part) override;
  Result<PartIndex> index(SnapshotId snapshot, const Part& part) override;
  Result<PartIndex> index(const PartFile& file) override;
  Result<Buffer> read(const PartFile& file, std::uint64_t offset, std::uint64_t bytes) override;
  Result<Savepoints> savepoints() override;
  Result<Done> delete_savepoint(const std::string& name) override;

  const std::string& name() const override { return place_.name; }
  using JobStore::lock;
  Result<std::shared_ptr<JobLock>> lock(const JobClaim& claim) override;

 private:
  class Stream;
  struct Opened {
    ObjectClient::Object object;
    IndexedPart holds;
  };

  std::string manifest_key(SnapshotId snapshot) const;
  std::string part_key(const PartFile& part) const;
  /// As people may look for it.
  std::string path_of(const std::string& key) const;
  std::string released_key(SnapshotId snapshot) const;
  std::string savepoint_key(const std::string& name) const;
  Result<bool> exists(const std::string& key);
  Result<bool> is_complete(SnapshotId snapshot) override { return exists(manifest_key(snapshot)); }
  Result<Done> remove(SnapshotId snapshot) override;
  Result<Done> write_savepoint(const std::string& name, SnapshotId snapshot) override;
  Result<bool> is_released(SnapshotId snapshot) override { return exists(released_key(snapshot)); }
  Result<Done> set_released(SnapshotId snapshot, bool released) override;
  /// No other job can have the store, if it was locked when it was opened or is locked by us.
  Result<Done> is_still_ours();
  /// It is not complete, and the store is still our job's: a worker that was cut off for long has
  /// nothing to put any more.
  Result<Done> can_be_put(SnapshotId snapshot);
  /// Numbers of all snapshots, complete or not, oldest first.
  Result<std::vector<SnapshotId>> numbers();
  Result<Done> clear(SnapshotId snapshot, const std::set<PartFile>& keep);
  /// An object that is missing is corrupt: a manifest names it.
  Result<ObjectClient::Read> read_part(const std::string& key, std::uint64_t offset,
                                       std::uint64_t bytes, const std::string& tag = "");
  /// All of a run, in pieces.
  Result<Buffer> read_run(const std::string& key, const ObjectClient::Object& object,
                          std::uint64_t offset, std::uint64_t bytes);
  Result<Opened> open_indexed(const PartFile& file);
  /// `part` as the manifest has it, or null.
  Result<PartIndex> read_index(const PartFile& of, const Part* part);

  const ObjectPlace place_;
  const ConnectToObjects connect_;
  const ObjectStoreSettings settings_;
  const std::unique_ptr<ObjectClient> client_;
  /// Which job's lease it was when the store was opened; empty: nobody's.
  const std::string job_;
  std::mutex mutex_;
  /// Ours, if we have it.
  std::weak_ptr<ObjectLock> lock_;
  /// Indexed parts that were looked into, so that not every run of them costs a look.
  std::map<PartFile, Opened> opened_;
};

}  // namespace piracema::store
