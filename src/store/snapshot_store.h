#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <piracema/bytes.h>
#include <piracema/error.h>

#include "base/ids.h"

namespace piracema::store {

/// One replica's state within a snapshot.
struct Part {
  ReplicaId replica = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};

/// What makes a snapshot complete: it exists if and only if its manifest does.
struct Manifest {
  SnapshotId snapshot = 0;
  Epoch epoch = 0;
  /// The graph of the job that it belongs to (`run::encode_shape`).
  std::string job;
  /// The job had ended when it was taken: there is nothing to go on with.
  bool finished = false;
  /// Seconds since 1970.
  std::uint64_t created = 0;
  std::vector<Part> parts;
};

/// Keeps the operator states of finished snapshots. Safe to call from any thread and process.
///
/// A snapshot is complete once `commit` returns without error; a reader never sees half of one,
/// even after a crash (Carbone et al. 2015, section 4.2).
class SnapshotStore {
 public:
  virtual ~SnapshotStore() = default;

  /// Stores one replica's state; durable when it returns. Overwrites what an aborted attempt at
  /// the same snapshot left. Errc::io with the system's reason, a full disk among them.
  virtual Result<Part> put(SnapshotId snapshot, ReplicaId replica, Bytes state) = 0;

  /// Makes a snapshot complete, at once and durably. Its parts have been put.
  virtual Result<Done> commit(const Manifest& manifest) = 0;

  /// Snapshots with a manifest file, oldest first. Says nothing of whether they are intact.
  virtual Result<std::vector<SnapshotId>> list() = 0;

  /// Reads a manifest. Errc::corrupt, naming the file, if it is not what was committed.
  virtual Result<Manifest> manifest(SnapshotId snapshot) = 0;

  /// Reads a part and checks it against the manifest's entry. Errc::corrupt names the file.
  virtual Result<Buffer> get(SnapshotId snapshot, const Part& part) = 0;

  /// Removes a snapshot, manifest first, whole or not.
  virtual Result<Done> drop(SnapshotId snapshot) = 0;
};

/// Reads the whole snapshot and says whether it could be restored.
Result<Manifest> verify(SnapshotStore& store, SnapshotId snapshot);

/// The newest snapshot that is intact. `refused` gets one error for each newer one that is not.
/// nullopt when there is none; an error only when the store cannot be read at all.
Result<std::optional<Manifest>> newest_intact(SnapshotStore& store, std::vector<Error>& refused);

}  // namespace piracema::store
