#pragma once

#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "control/messages/control.h"
#include "control/snapshot_book.h"

namespace piracema::cluster {

/// One snapshot from its barrier until every replica has saved (paper 000, section 2.2; Carbone et
/// al. 2015, section 4.2).
class SnapshotRound {
 public:
  SnapshotRound(SnapshotId id, Epoch epoch, SnapshotPurpose purpose, Time begun,
                std::size_t replicas)
      : id_(id), epoch_(epoch), purpose_(purpose), begun_(begun), parts_(replicas) {}

  SnapshotId id() const { return id_; }
  SnapshotPurpose purpose() const { return purpose_; }
  Time begun() const { return begun_; }

  /// A replica's part; of two for the same replica the first one stays.
  void saved(const runtime::Saved& part);
  bool has(ReplicaId replica) const { return parts_[replica].has_value(); }
  bool complete() const { return count_ == parts_.size(); }
  /// It is complete.
  SavedSnapshot result() const;
  /// Bytes of items that its barriers have overtaken; of what has been saved.
  std::uint64_t under_way() const { return under_way_; }

 private:
  SnapshotId id_;
  Epoch epoch_;
  SnapshotPurpose purpose_;
  Time begun_;
  std::vector<std::optional<SavedPart>> parts_;
  std::size_t count_ = 0;
  std::uint64_t emitted_ = 0, under_way_ = 0;
};

}  // namespace piracema::cluster
