#pragma once

#include <memory>
#include <optional>
#include <string>

#include "smr/storage/checkpoint_files.h"
#include "smr/storage/log_index.h"
#include "store/log/log_file.h"

namespace piracema::smr {

struct StorageSettings {
  ReplicaId me = 0;
  /// Name of the group: the directory of another one's replica is refused.
  std::string group;
  /// Never given to this replica before, such as a random one: names this life of its memory.
  std::uint64_t nonce = 0;
  /// The group is new, so that there was nothing to forget: an empty disk is as it should be. Set
  /// it once in the life of a replica, when it is made.
  bool first_start = false;
  std::uint64_t segment_bytes = std::uint64_t{16} << 20;
  std::uint64_t ahead_bytes = std::uint64_t{512} << 10;
};

/// What a replica remembers (docs/formats/replica.md): its log, its checkpoints, and whether it
/// remembers everything. If it does not, because the disk is empty, damaged or of another life,
/// then it says so in Recovered::amnesia until it has regained its memory: it must not vote in
/// what it may have voted in before.
///
/// `index` belongs to the thread that appends records; the rest of the log to the one that writes
/// them; the checkpoints to any one thread if the disk is a DirectoryDisk.
class Storage {
 public:
  struct Opened {
    std::unique_ptr<Storage> storage;
    /// All but the view of the configuration, which the caller fills in.
    Recovered recovered;
    /// The bytes of recovered.checkpoint, for the service.
    Buffer image;
    /// For people: what was wrong or unusual, a line each.
    std::vector<std::string> notes;
  };
  /// Errc::config if the disk is that of another replica or group; Errc::refused for files of
  /// another version of this program; Errc::io. Damage is no error: the replica rejoins.
  static Result<Opened> open(store::Disk& disk, const StorageSettings& settings);

  /// As `open`, where the file `mark` on another disk says whether the replica was there before, in
  /// place of `first_start`: a disk that is lost takes with it what it says itself. The file is
  /// made when this life is durable, and before anything can be promised: until then the next start
  /// is the first one, once more.
  static Result<Opened> open_marked(store::Disk& beside, const std::string& mark, store::Disk& disk,
                                    StorageSettings settings);

  /// As `open`, but changes nothing, and is no use for anything but what was found: for whoever
  /// saves what a replica has left. Errc::corrupt if its log is damaged or missing, Errc::not_found
  /// if no replica was there.
  static Result<Opened> look(store::Disk& disk, const StorageSettings& settings);

  // ---- the log -------------------------------------------------------------------------------

  /// The number of the record that is appended next, after those of `recovered`.
  store::LogSequence first_sequence() const { return first_sequence_; }
  /// Of this memory; and whether it began with a loss, for ever.
  std::uint64_t life() const { return life_; }
  bool lost_memory() const { return lost_memory_; }
  /// Knows of all records in the log; note those that are appended.
  LogIndex& index() { return index_; }
  /// As LogFile's.
  Result<store::LogSequence> commit(store::LogGroup& group, bool idle = true) {
    return log_->commit(group, idle);
  }
  Result<Done> settle() { return log_->settle(); }
  /// For LogIndex::Truncation::floor, when `again` is durable.
  void truncate(store::LogSequence floor) { log_->truncate(floor); }

  CheckpointFiles& checkpoints() { return checkpoints_; }

  /// Use `open`.
  explicit Storage(store::Disk& disk) : disk_(disk), checkpoints_(disk) {}

 private:
  Result<Done> open_log(const StorageSettings& settings, Opened& opened);
  Result<Done> begin_life(const StorageSettings& settings, Opened& opened);
  Result<Done> replay(const StorageSettings& settings, Opened& opened);
  Result<Done> begin_log();
  Result<Done> find_checkpoint(Opened& opened);

  store::Disk& disk_;
  std::uint64_t life_ = 0;
  bool lost_memory_ = false;
  std::unique_ptr<store::LogFile> log_;
  LogIndex index_;
  store::LogSequence first_sequence_ = 1;
  CheckpointFiles checkpoints_;
};

}  // namespace piracema::smr
