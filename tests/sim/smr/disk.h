#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "base/random.h"
#include "smr/storage/storage.h"
#include "store/disk/memory_disk.h"

namespace piracema::smr_sim {

/// What a replica keeps through a crash: its real storage, on a disk in memory that does what disks
/// do. In place of the threads that a process has for it (smr/storage/log_writer.h): one sync at a
/// time, and what comes meanwhile waits for the next one.
///
/// An error is what it is to a process: it ends, and another one begins.
class Disk {
 public:
  explicit Disk(std::uint64_t seed) : random_(seed), disk_(random_.next()) {}

  // ---- a process ------------------------------------------------------------------------------
  /// It starts, and reads what is there.
  Result<smr::Storage::Opened> open(smr::ReplicaId me, std::uint64_t nonce);

  void append(const smr::LogRecord& record);
  /// Records appended in this life, and how many of them are durable.
  std::size_t appended() const { return appended_; }
  std::size_t durable() const { return durable_; }
  /// A sync begins, if there is anything to sync and none is under way; and is over.
  bool begin_sync();
  Result<Done> end_sync();

  /// What is about instances up to here goes when all is durable that was appended so far.
  void truncate(smr::Instance instance, smr::Instance kept);
  smr::CheckpointFiles& checkpoints() { return storage_->checkpoints(); }

  // ---- what happens to it ---------------------------------------------------------------------
  /// The power fails: of what was not synced any part is lost, and any part of any sector.
  void crash();
  /// The process ends, and the disk has all that it wrote.
  void end();
  /// An exchanged disk.
  void lose();
  /// The power is to fail in so many steps of the disk: each write, sync and change of a name.
  void stop_after(std::uint64_t steps) { disk_.stop_after(steps); }
  /// A bit of what has been there for a while turns.
  void rot();
  /// The next write of the log goes somewhere else.
  void misdirect() { misdirect_ = true; }
  void fail_next_sync() { disk_.fail_syncs(1); }
  /// There is no more room than for so many bytes; or for as much as anybody likes.
  void fill(std::uint64_t room) { disk_.set_capacity(disk_.used() + room); }
  void make_room() { disk_.set_capacity(~std::uint64_t{0}); }

  std::uint64_t used() const { return disk_.used(); }

 private:
  struct Truncation {
    std::size_t after = 0;
    smr::Instance instance = 0, kept = 0;
    store::LogSequence floor = 0;
  };
  void forget_life();
  Result<Done> carry_out_truncations();

  Random random_;
  store::MemoryDisk disk_;
  bool new_ = true;

  // Of one life.
  std::unique_ptr<smr::Storage> storage_;
  store::LogSequence next_record_ = 1;
  std::size_t appended_ = 0, durable_ = 0;
  /// Being filled; being synced.
  store::LogGroup waiting_, syncing_;
  std::size_t syncing_upto_ = 0;
  bool misdirect_ = false;
  std::deque<Truncation> truncations_;
};

}  // namespace piracema::smr_sim
