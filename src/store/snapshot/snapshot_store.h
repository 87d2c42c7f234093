#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "store/snapshot/part_index.h"
#include "store/snapshot/savepoint.h"

namespace piracema::store {

/// What every place of snapshots has, and who writes to it has locked.
constexpr const char* lock_name = "piracema.lock";

/// The largest state of one replica that a snapshot can hold.
constexpr std::uint64_t part_bytes_max = std::uint64_t{64} << 30;

/// One replica's state within a snapshot.
struct Part {
  ReplicaId replica = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
  /// It has states by key: an index of them, of which `checksum` is.
  bool indexed = false;
  /// Other files in which states lie that have not changed since.
  std::vector<PartFile> files{};
  bool operator==(const Part&) const = default;
};

/// A node of the job, as far as its number of replicas may change when the job goes on.
struct NodeParts {
  std::string name;
  std::uint32_t replicas = 1;
  /// Of a node with a state for each key; else 0.
  std::uint32_t key_groups = 0;
  bool operator==(const NodeParts&) const = default;
};

/// What makes a snapshot complete: it exists if and only if its manifest does.
struct Manifest {
  SnapshotId snapshot = 0;
  Epoch epoch = 0;
  /// The graph of the job that it belongs to (`runtime::encode_shape`).
  std::string job;
  /// What the state of each node is made of (Operator::layout), where it is known; by the node's
  /// name. A manifest of version 1 has none.
  std::map<std::string, std::string> layouts{};
  /// In the order of their replicas; none in a manifest of version 1 or 2.
  std::vector<NodeParts> nodes{};
  /// The job had ended when it was taken: there is nothing to go on with.
  bool finished = false;
  /// Seconds since 1970.
  std::uint64_t created = 0;
  /// At most one for each replica.
  std::vector<Part> parts;
  bool operator==(const Manifest&) const = default;
  /// Of the same snapshot, whenever it was written.
  bool is_again(const Manifest& other) const {
    Manifest same = other;
    same.created = created;
    return *this == same;
  }
};

/// A part with states by key that is put piece by piece, as it is made, so that nobody needs memory
/// for all of it. Used by one thread at a time; the store outlives it. What is not finished, for an
/// error or because the process ends, is no part and leaves nothing that would count as one.
class PartStream {
 public:
  virtual ~PartStream() = default;
  /// Behind what was put before. Errors as those of `put`; after one all else fails, too.
  virtual Result<Done> append(Bytes data) = 0;
  /// `index` says what of all of it is what. The bytes are durable when it returns. Once.
  virtual Result<Part> finish(const PartIndex& index) = 0;
};

/// Keeps the operator states of finished snapshots. Safe to call from any thread and process.
///
/// A snapshot is complete once `commit` returns without error; a reader never sees half of one,
/// even after a crash (Carbone et al. 2015, section 4.2). What is read back is checked: bytes
/// that are not what was committed are Errc::corrupt, a format of another version Errc::refused,
/// and the message names the file.
class SnapshotStore {
 public:
  virtual ~SnapshotStore() = default;

  /// Stores one replica's state, at most `part_bytes_max`; its bytes are durable when it returns,
  /// its name when `commit` does. Overwrites what an aborted attempt at the same snapshot left.
  /// Different replicas may be put at once. Errc::io with the system's reason, a full disk among
  /// them; Errc::refused if the snapshot is complete (`drop` it first).
  virtual Result<Part> put(SnapshotId snapshot, ReplicaId replica, Bytes state) = 0;
  /// The same for a part with states by key, in pieces. What an aborted attempt left is overwritten
  /// when it is finished.
  virtual Result<std::unique_ptr<PartStream>> begin_part(SnapshotId snapshot,
                                                         ReplicaId replica) = 0;
  /// At once; `index` says what of `data` is what.
  Result<Part> put_indexed(SnapshotId snapshot, ReplicaId replica, Bytes data,
                           const PartIndex& index);
  /// Whichever of the two it is.
  Result<Part> put_content(SnapshotId snapshot, ReplicaId replica, const PartContent& content) {
    if (content.index) return put_indexed(snapshot, replica, content.data, *content.index);
    return put(snapshot, replica, content.data);
  }

  /// Makes a snapshot complete, at once and durably. Its parts have been put; Errc::not_found if
  /// one is gone. Done once more if it is complete already by the same manifest, whenever that was
  /// written; Errc::refused if it is by another one. After any other error it is not complete.
  virtual Result<Done> commit(const Manifest& manifest) = 0;

  /// Snapshots with a manifest file, oldest first. Says nothing of whether they are intact.
  virtual Result<std::vector<SnapshotId>> list() = 0;

  /// Reads a manifest. Errc::not_found if the snapshot is not complete.
  virtual Result<Manifest> manifest(SnapshotId snapshot) = 0;

  /// Whether the store, and in it this snapshot if one is named, is still there to be read; reads
  /// no part. Errc::not_found or Errc::config if it is not, naming it.
  virtual Result<Done> find(std::optional<SnapshotId> snapshot) = 0;

  /// Reads a part and checks it against the manifest's entry. A part that is missing is corrupt.
  /// Of one that is indexed: what it has beside states by key.
  virtual Result<Buffer> get(SnapshotId snapshot, const Part& part) = 0;
  /// Of a part that is indexed. It names no file but its own and the part's `files`.
  virtual Result<PartIndex> index(SnapshotId snapshot, const Part& part) = 0;
  /// Of a file that the index of another part names: what it says is to be held to that
  /// (`units_of` does).
  virtual Result<PartIndex> index(const PartFile& file) = 0;
  /// A run of what the file of an indexed part holds, at most `part_bytes_max`; the caller knows
  /// its checksum. A file that is missing, too short or another one is corrupt.
  virtual Result<Buffer> read(const PartFile& file, std::uint64_t offset, std::uint64_t bytes) = 0;

  /// Removes a snapshot, manifest first, whole or not, but for files that another complete one
  /// needs: these go with the last that does. Nothing there is no error. One that has a name is
  /// kept, until the first call of this or of `drop_released` after its last name was deleted. Only
  /// whoever has the store for itself may call it.
  Result<Done> drop(SnapshotId snapshot);
  /// Removes those that `drop` has kept and that have no name any more. Who may call it: as `drop`.
  Result<Done> drop_released();
  /// The job that goes on may need these again: they are as if `drop` had not been called.
  Result<Done> reclaim(const std::vector<SnapshotId>& snapshots);

  /// From here on `name` keeps a complete snapshot; also while a job uses the store. Done once more
  /// if it does so and the job has not dropped it. Errc::config for what is no name,
  /// Errc::not_found if there is no such snapshot, Errc::refused if the name is that of another
  /// one, or the job has dropped this one: other names may keep it, but it may be going just now.
  Result<Done> add_savepoint(const std::string& name, SnapshotId snapshot);
  /// All of them, also of a snapshot that is not there: one that was going while it was named by a
  /// process that was killed. Errc::corrupt or refused if one cannot be read, which it names.
  virtual Result<Savepoints> savepoints() = 0;
  /// Its snapshot is as any other from here on. Errc::not_found.
  virtual Result<Done> delete_savepoint(const std::string& name) = 0;

 protected:
  /// Files that complete snapshots need of others.
  Result<std::set<PartFile>> needed();

 private:
  // ---- what `drop` and savepoints are made of
  virtual Result<bool> is_complete(SnapshotId snapshot) = 0;
  /// A whole one, or what is there of it, whatever names there are.
  virtual Result<Done> remove(SnapshotId snapshot) = 0;
  /// Errc::refused if the name is there.
  virtual Result<Done> write_savepoint(const std::string& name, SnapshotId snapshot) = 0;
  /// Whether `drop` has been called for it; kept with the snapshot, and gone with it.
  virtual Result<bool> is_released(SnapshotId snapshot) = 0;
  virtual Result<Done> set_released(SnapshotId snapshot, bool released) = 0;
};

/// Of a name that is wanted. Errc::not_found names those that there are.
Result<SnapshotId> find_savepoint(const Savepoints& savepoints, const std::string& name,
                                  const std::string& store);

/// Reads the whole snapshot and says whether it could be restored.
Result<Manifest> verify(SnapshotStore& store, SnapshotId snapshot);

/// Where all lies that an indexed part has of these groups, `index` being its own: in its file, and
/// in those that it names. Errc::corrupt if one of these is not what it was.
Result<std::vector<StateUnit>> units_of(SnapshotStore& store, const PartFile& own,
                                        const PartIndex& index, GroupRange groups);

/// Reads these units, of one file each or of several, in runs of some MiB, checks them, and calls
/// `use(unit, bytes)`, which may fail: those of older files first, as newer ones say what has
/// become of the same keys since.
Result<Done> read_units(SnapshotStore& store, std::vector<StateUnit> units,
                        const std::function<Result<Done>(const StateUnit&, Bytes)>& use);

/// The newest snapshot that is intact. `refused` gets one error for each newer one that is not:
/// their numbers are taken, so new snapshots count on from the last of `list()`.
/// nullopt when there is none. An error only when the store cannot be read or does not answer, or
/// when nothing is intact and something is of another version (Errc::refused).
Result<std::optional<Manifest>> newest_intact(SnapshotStore& store, std::vector<Error>& refused);

}  // namespace piracema::store
