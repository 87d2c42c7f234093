#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "base/ids.h"
#include "control/messages/control.h"

namespace piracema::cluster {

/// Why a snapshot was begun.
enum class SnapshotPurpose : std::uint8_t {
  interval,   ///< It was time.
  stop,       ///< The user wants to go on another day.
  final,      ///< Every replica has ended.
  scale,      ///< Another plan goes on from it.
  move,       ///< Processes go on from it in other places.
  savepoint,  ///< A user wants one with a name.
};

/// Sources wait behind its barrier, until a Deploy or another snapshot.
inline bool holds_sources(SnapshotPurpose purpose) {
  return purpose == SnapshotPurpose::scale || purpose == SnapshotPurpose::move;
}

/// Its barriers may overtake items, which are saved with it then. Another plan could not go on from
/// that, and of a stop or a savepoint nobody knows with which numbers of replicas the job will go
/// on.
inline bool may_overtake(SnapshotPurpose purpose) { return purpose == SnapshotPurpose::interval; }

/// A replica's state in a snapshot, as its worker told.
struct SavedPart {
  ReplicaId replica = 0;
  std::uint64_t bytes = 0, checksum = 0;
  /// It has states by key, some of which may lie in files of older snapshots: these, in ascending
  /// order.
  bool indexed = false;
  std::vector<runtime::StateFile> files = {};
  auto fields() { return std::tie(replica, bytes, checksum, indexed, files); }
};

/// All replicas have saved it. Its manifest may exist from here on.
struct SavedSnapshot {
  SnapshotId id = 0;
  Epoch epoch = 0;
  SnapshotPurpose purpose = SnapshotPurpose::interval;
  /// Items that the sources had sent since the last Deploy, up to the barrier.
  std::uint64_t emitted = 0;
  /// One for each replica, in their order.
  std::vector<SavedPart> parts;
  auto fields() { return std::tie(id, epoch, purpose, emitted, parts); }

  std::uint64_t bytes() const;
};

/// Which snapshots of a job there are, and which number the next one gets. Only facts: when one is
/// begun is for others to say.
class SnapshotBook {
 public:
  SnapshotBook() = default;
  /// `found` are in the store, `restore` is what the job begins with. Those up to it are kept,
  /// those above it were refused.
  SnapshotBook(std::optional<SnapshotId> restore, std::vector<SnapshotId> found);

  /// The newest complete one, which a recovery goes back to; none is the beginning.
  std::optional<SnapshotId> newest() const { return newest_; }
  SnapshotId next_id() const { return next_id_; }
  /// Begun, and not yet saved by all.
  std::optional<SnapshotId> open() const { return open_; }
  /// Saved by all; its manifest is being written.
  const std::optional<SavedSnapshot>& writing() const { return writing_; }
  /// Complete ones, oldest first.
  const std::vector<SnapshotId>& kept() const { return kept_; }
  /// It may be complete in a store.
  bool knows(SnapshotId id) const;
  /// Given up; they may still be there in parts.
  const std::vector<SnapshotId>& given_up() const { return given_up_; }
  /// Of which a store has no need once `completed` is called with these arguments.
  std::vector<SnapshotId> dropped_with(SnapshotId id, std::uint32_t keep) const;

  // ---- each is Errc::corrupt where it does not fit what was before --------------------------
  Result<Done> begun(SnapshotId id);
  Result<Done> saved(SavedSnapshot snapshot);
  Result<Done> completed(SnapshotId id, std::uint32_t keep);
  Result<Done> gave_up(SnapshotId id);

  auto fields() { return std::tie(newest_, next_id_, open_, writing_, kept_, given_up_); }
  /// Errc::corrupt for what no sequence of the calls above leads to.
  Result<Done> check(std::size_t replicas) const;

 private:
  std::optional<SnapshotId> newest_;
  SnapshotId next_id_ = 1;
  std::optional<SnapshotId> open_;
  std::optional<SavedSnapshot> writing_;
  std::vector<SnapshotId> kept_, given_up_;
};

}  // namespace piracema::cluster
