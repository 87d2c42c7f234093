#pragma once

#include <piracema/detail/keyed_states.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/engine.h"
#include "base/ids.h"
#include "store/snapshot/part_index.h"

namespace piracema::state {

/// Saves the states by key of one replica, snapshot after snapshot, in pieces between which items
/// are taken. What has not changed since it was saved in a snapshot that is complete is not saved
/// again, but named where it lies.
///
/// So that a snapshot does not need ever more files of earlier ones, a file that is less than half
/// in use, and the one with the least in use of too many, is not named any more: what is used of it
/// is saved anew.
class KeyedSaver final : public KeyedCut {
 public:
  /// Memory that is given back and used again (`detail::kept_bytes_max`), and large for a disk.
  static constexpr std::size_t piece_bytes_usual = std::size_t{1} << 20;

  /// `states` outlives it. A piece is at least `piece_bytes`, and one range of keys more at most.
  KeyedSaver(ReplicaId self, KeyGroups groups, KeyedStates& states,
             std::size_t piece_bytes = piece_bytes_usual);
  ~KeyedSaver() override;

  /// What was loaded lies there.
  void loaded(const store::StateUnit& unit);

  /// Freezes the states. `plain` is what else the part has; `complete` is a complete snapshot, the
  /// newest that is known of. A snapshot that was begun and is not done is given up.
  void begin(SnapshotId snapshot, SnapshotId complete, Buffer plain);
  bool is_saving() const { return saving_; }
  SnapshotId snapshot() const { return snapshot_; }
  /// Saves a little more; false when there is no more.
  bool go_on() { return states_.save_next(); }
  /// What was saved by now, if that is enough for a piece; else nothing. `take` brings what
  /// follows.
  Buffer take_piece();
  /// The rest of the part, when there is no more.
  store::PartContent take();

  bool keep(const HashRange& range, const StatePlace& place) override;
  Buffer& bytes() override { return data_; }
  StatePlace saved(const HashRange& range, std::size_t from) override;

 private:
  /// Files of earlier snapshots that a part may name.
  static constexpr std::size_t files_max = 16;

  void choose_files();
  std::size_t room_for_piece() const { return piece_bytes_ + piece_bytes_ / 8; }

  const ReplicaId self_;
  const KeyGroups groups_;
  KeyedStates& states_;
  const std::size_t piece_bytes_;

  /// Bytes of states in a file: when it was written, and those in use as of the last part.
  struct Use {
    std::uint64_t written = 0, used = 0;
  };
  std::map<store::PartFile, Use> files_;
  std::set<store::PartFile> left_;

  bool saving_ = false;
  SnapshotId snapshot_ = 0, complete_ = 0;
  /// What was taken in pieces, and what was saved since.
  std::uint64_t taken_bytes_ = 0;
  Buffer data_;
  store::PartIndex index_;
  std::size_t last_units_ = 0;
};

}  // namespace piracema::state
