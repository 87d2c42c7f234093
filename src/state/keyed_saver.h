#pragma once

#include <piracema/detail/keyed_states.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/engine.h"
#include "base/ids.h"
#include "state/kept_states.h"
#include "state/saved_files.h"
#include "store/snapshot/part_index.h"

namespace piracema::state {

/// Saves the states by key of one replica, snapshot after snapshot, in pieces between which items
/// are taken. A snapshot has the keys that have changed since they were saved, and names the files
/// of earlier ones (`SavedFiles`) in which the others lie. What was saved for a snapshot that was
/// given up is saved again.
class KeyedSaver final : public KeyedCut {
 public:
  /// Memory that is given back and used again (`detail::kept_bytes_max`), and large for a disk.
  static constexpr std::size_t piece_bytes_usual = std::size_t{1} << 20;

  /// `states` outlives it. A piece is at least `piece_bytes`, and one segment more at most.
  KeyedSaver(ReplicaId self, KeyGroups groups, KeyedStates& states,
             std::size_t piece_bytes = piece_bytes_usual);
  ~KeyedSaver() override;

  /// The files that a snapshot names, with its own. Once, before `load`.
  void goes_on_from(const std::vector<store::NamedFile>& files) { files_.restore(files); }
  /// In place of that: what is loaded is of the type that the states had so many changes ago
  /// (KeyedStates::reads). It becomes what they are now, and the next snapshot has all of it.
  void converts(std::uint32_t ago) { states_.reads(ago); }
  /// What lies there becomes states; units of older files first. Throws DecodeError.
  void load(const store::StateUnit& unit, Bytes bytes);
  /// Goes on with what was kept of the groups that `owned` has, too; the rest of it stays there,
  /// and counts no more. Before all else.
  void take_over(KeptStates& kept, GroupRange owned);
  /// Goes on with what was read ahead, besides what it has: of groups that it owns, and has nothing
  /// of. Before `goes_on_from`.
  void join(KeptStates& ahead);
  /// All that there is of a snapshot was taken over and loaded.
  void restored(SnapshotId snapshot);
  /// The states, if they are still those of the snapshot that was saved or restored last, whether
  /// or not that is complete; else null. `owned` is what they are of. It is used no more.
  std::unique_ptr<KeptStates> keep(GroupRange owned);

  /// Freezes the states; `complete` is a complete snapshot, the newest that is known of. One that
  /// was begun and is not done is given up.
  void freeze(SnapshotId snapshot, SnapshotId complete);
  /// What else the part has, which may take a while to be known: the states are saved behind it.
  void begin(Buffer plain);
  /// The states are frozen and not all saved; it has begun.
  bool is_saving() const { return saving_ && begun_; }
  SnapshotId snapshot() const { return snapshot_; }
  /// Saves a little more; false when there is no more.
  bool go_on() { return states_.save_next(); }
  /// What was saved by now, if that is enough for a piece; else nothing. `take` brings what
  /// follows.
  Buffer take_piece();
  /// The rest of the part, when there is no more.
  store::PartContent take();

  const CutPlan& plan(std::uint32_t group) override { return files_.plan(group); }
  Buffer& bytes() override { return data_; }
  void saved(std::uint32_t group, std::size_t from, std::uint64_t entries) override;

 private:
  /// Entries of a group that lie one behind the other are one unit, up to about so many bytes.
  static constexpr std::size_t unit_bytes = std::size_t{64} << 10;

  void close_unit();
  std::size_t room_for_piece() const { return piece_bytes_ + piece_bytes_ / 8; }

  const ReplicaId self_;
  const KeyGroups groups_;
  KeyedStates& states_;
  const std::size_t piece_bytes_;
  SavedFiles files_;

  bool saving_ = false;
  bool begun_ = false;
  /// The last one that was begun or restored; 0: none.
  SnapshotId snapshot_ = 0;
  /// What was taken in pieces, and what was saved since.
  std::uint64_t taken_bytes_ = 0;
  Buffer data_;
  std::uint64_t entries_ = 0;
  store::PartIndex index_;
  /// The unit that is being written: where it begins and ends in `data_`.
  struct Open {
    std::uint32_t group = 0;
    std::size_t begin = 0, end = 0;
  };
  std::optional<Open> open_;
};

}  // namespace piracema::state
