#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/work_queue.h"
#include "loop/poller.h"
#include "smr/order/core/recovered.h"
#include "smr/order/messages/actions.h"
#include "smr/storage/log_writer.h"
#include "smr/storage/shelf.h"
#include "smr/storage/storage.h"
#include "store/disk/directory_disk.h"

namespace piracema::smr {

/// What a replica keeps: its log, its checkpoints, and what it knows of the others' lives. On its
/// disk, with a thread for the log and one for everything else; or in memory, where the group does
/// not ask for more. Belongs to the poller's thread, on which all callbacks are called.
class Persistence {
 public:
  struct Settings {
    ReplicaId me = 0;
    /// Name of the group.
    std::string group;
    /// For this replica alone. Made if need be.
    std::string directory;
    /// The group is new: an empty directory is as it should be, and not one that was lost.
    bool first_start = false;
    /// As ReplicaOptions::began_file.
    std::string began_file = {};
    /// Else a restart forgets everything but that the replica was here before.
    bool durable = true;
  };
  struct Host {
    /// More of the log has come to rest: see `durable`.
    std::function<void()> durable;
    /// The disk does not keep what it is given. Maybe more than once.
    std::function<void(Error)> failed;
  };
  struct Opened {
    std::unique_ptr<Persistence> persistence;
    /// All but the view of the configuration, which the caller fills in.
    Recovered recovered;
    /// The bytes of recovered.checkpoint, for the service.
    Buffer image;
  };
  /// `poller` outlives it, and is not run after it has gone. The errors of Storage.
  static Result<Opened> open(net::Poller& poller, const Settings& settings, Host host);
  ~Persistence();
  Persistence(const Persistence&) = delete;
  Persistence& operator=(const Persistence&) = delete;

  /// Of this replica's memory; and whether it began with a loss.
  std::uint64_t life() const { return life_; }
  bool lost_memory() const { return lost_memory_; }

  /// What PeerLives::encode wrote; Errc::not_found if there is nothing.
  Result<Buffer> read_lives() const;
  void write_lives(Buffer lives);

  // ---- the log

  void append(const LogRecord& record);
  /// Records so far, and how many of them are durable. Without a disk both are 0.
  std::uint64_t appended() const { return log_ ? log_->appended() : 0; }
  std::uint64_t durable() const { return durable_; }
  /// Has the log's thread write what was appended.
  void kick();

  // ---- checkpoints

  /// How one that is to be kept should be made.
  Pieces pieces() const { return log_ ? Pieces::made_again : Pieces::kept; }
  void keep(const Checkpoint& checkpoint, std::function<void()> kept);
  /// The log up to there goes, and older checkpoints, as Truncate says.
  void truncate(const Truncate& truncate);
  /// A piece of one that is kept; not called if it is not there.
  void find(Instance instance, std::uint32_t number, std::function<void(Shelf::Chunk)> found);
  /// A piece of one that comes from others; and all pieces of it, one behind the other.
  void store(StoreChunk& store);
  void load(const CheckpointInfo& checkpoint,
            std::function<void(const Result<Shelf::Chunk>&)> loaded);

 private:
  Persistence(net::Poller& poller, Host host, std::unique_ptr<store::DirectoryDisk> disk);
  Result<Recovered> open_in_memory(const Settings& settings, std::uint64_t nonce);
  void start_log();
  /// Calls `work` on the disk's thread and `then`, with its result, on the poller's. Any thread.
  template <class Work, class Then>
  void on_disk(Work work, Then then);
  void fail_unless(const Result<Done>& done) const;

  net::Poller& poller_;
  const Host host_;
  const std::unique_ptr<store::DirectoryDisk> disk_;
  std::uint64_t life_ = 0;
  bool lost_memory_ = false;
  /// Checkpoints, where nothing is kept on disk; else the storage has them.
  Shelf shelf_;
  std::unique_ptr<Storage> storage_;
  std::uint64_t next_record_ = 1, durable_ = 0;
  // The threads end first; the log's own gives work to the other one.
  std::unique_ptr<WorkQueue> disk_thread_;
  /// Null where nothing has to be durable.
  std::unique_ptr<LogWriter> log_;
};

}  // namespace piracema::smr
