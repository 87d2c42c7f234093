#pragma once

#include <memory>
#include <optional>

#include "smr/order/core/core.h"
#include "smr/order/transfer/checkpoint.h"
#include "store/disk/disk.h"

namespace piracema::smr {

/// A checkpoint that comes from others, piece by piece, in a file that outlives the process. One at
/// a time: the first piece of another one takes its place. One thread at a time. Errors are those
/// of the disk; Errc::corrupt names the file.
class IncomingCheckpoint {
 public:
  explicit IncomingCheckpoint(store::Disk& disk) : disk_(disk) {}

  /// A piece of somebody's; it may be lost in a crash, which `partial` notices.
  Result<Done> store(const CheckpointInfo& checkpoint, std::uint32_t number, Bytes bytes);
  /// All pieces are stored: what is to be kept, and its bytes one behind the other, which it is
  /// made of. Errc::corrupt if a piece is missing or the whole is not what `checkpoint` says: then
  /// they are forgotten.
  struct Whole {
    Checkpoint checkpoint;
    std::shared_ptr<const Buffer> bytes;
  };
  Result<Whole> whole(const CheckpointInfo& checkpoint);
  /// Pieces that a former life of the process has stored; of the newest such checkpoint.
  Result<std::optional<PartialCheckpoint>> partial();

  Result<Done> drop();
  /// Its file was removed if it is of that instance.
  void removed(Instance instance);

 private:
  Result<Done> open(const CheckpointInfo& checkpoint);

  store::Disk& disk_;
  Instance instance_ = 0;
  /// Of that instance, once a piece has come.
  std::unique_ptr<store::DiskFile> file_;
};

}  // namespace piracema::smr
