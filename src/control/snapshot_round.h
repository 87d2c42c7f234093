#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "control/messages/control.h"
#include "store/snapshot/snapshot_store.h"

namespace piracema::cluster {

/// One snapshot from its barrier to its manifest: complete when every replica has saved (paper
/// 000, section 2.2; Carbone et al. 2015, section 4.2).
class SnapshotRound {
 public:
  /// Why it was begun.
  enum class Purpose {
    interval,  ///< It was time.
    stop,      ///< The user wants to go on another day.
    final,     ///< Every replica has ended.
  };

  SnapshotRound(SnapshotId id, Epoch epoch, Purpose purpose, Time begun, std::size_t replicas)
      : id_(id), epoch_(epoch), purpose_(purpose), begun_(begun), parts_(replicas) {}

  SnapshotId id() const { return id_; }
  Purpose purpose() const { return purpose_; }
  Time begun() const { return begun_; }

  /// A replica's part; of two for the same replica the first one stays.
  void saved(const runtime::Saved& part);
  bool has(ReplicaId replica) const { return parts_[replica].has_value(); }
  bool complete() const { return count_ == parts_.size(); }

  /// Its manifest is being written: from here on it may exist, and cannot be given up.
  bool committing() const { return committing_; }
  void set_committing() { committing_ = true; }

  /// `job` is the encoded graph, `layouts` those of its nodes, `nodes` their numbers. The round is complete.
  store::Manifest manifest(std::string job, std::map<std::string, std::string> layouts = {},
                           std::vector<store::NodeParts> nodes = {}) const;
  std::uint64_t bytes() const;
  /// Items that the sources have sent since the last Deploy, up to the barrier.
  std::uint64_t emitted() const { return emitted_; }

 private:
  SnapshotId id_;
  Epoch epoch_;
  Purpose purpose_;
  Time begun_;
  std::vector<std::optional<store::Part>> parts_;
  std::size_t count_ = 0;
  std::uint64_t emitted_ = 0;
  bool committing_ = false;
};

}  // namespace piracema::cluster
