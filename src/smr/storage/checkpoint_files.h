#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "smr/order/core/core.h"
#include "smr/order/transfer/checkpoint.h"
#include "smr/storage/incoming_checkpoint.h"
#include "store/disk/disk.h"

namespace piracema::smr {

/// A replica's checkpoints on its disk, and the one that it is given by others;
/// docs/formats/replica.md. One thread at a time, which may be another than the log's if the disk
/// allows that. Errors are those of the disk; Errc::corrupt names the file.
class CheckpointFiles {
 public:
  using Chunk = std::shared_ptr<const Buffer>;

  explicit CheckpointFiles(store::Disk& disk) : disk_(disk), incoming_(disk) {}

  /// Durable when it returns. Until then there may be half of it, which nothing names. Errc::failed
  /// if its pieces are others each time that they are made.
  Result<Done> keep(const Checkpoint& checkpoint);
  /// A piece of one that is kept. Errc::not_found if it is not.
  Result<Chunk> chunk(Instance instance, std::uint32_t number);

  IncomingCheckpoint& incoming() { return incoming_; }
  /// All pieces of the one that comes are stored: keeps it, and returns its bytes one behind the
  /// other. Errors are those of IncomingCheckpoint::whole and of `keep`.
  Result<Chunk> complete(const CheckpointInfo& checkpoint);

  /// The bytes of one that is kept, every piece compared with `checkpoint`; and their digests.
  struct Image {
    Buffer bytes;
    std::vector<Digest> chunks;
  };
  Result<Image> load(const CheckpointInfo& checkpoint);

  /// All but those at or after `instance`, and the one at `kept`.
  Result<Done> forget_before(Instance instance, Instance kept = 0);

 private:
  store::Disk& disk_;
  IncomingCheckpoint incoming_;
  /// The last one that a piece was asked of.
  Instance open_ = 0;
  std::unique_ptr<store::DiskFile> open_file_;
  CheckpointInfo open_info_;
  std::uint64_t open_offset_ = 0;
};

}  // namespace piracema::smr
