#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smr/order/core/core.h"
#include "smr/order/transfer/checkpoint.h"
#include "store/disk/disk.h"

namespace piracema::smr {

/// A replica's checkpoints on its disk, and pieces of one that is being received;
/// docs/formats/replica.md. One thread at a time, which may be another than the log's if the disk
/// allows that. Errors are those of the disk; Errc::corrupt names the file.
class CheckpointFiles {
 public:
  using Chunk = std::shared_ptr<const Buffer>;

  explicit CheckpointFiles(store::Disk& disk) : disk_(disk) {}

  /// Durable when it returns. Until then there may be half of it, which nothing names. Errc::failed if
  /// its pieces are others each time that they are made.
  Result<Done> keep(const Checkpoint& checkpoint);
  /// A piece of one that is kept. Errc::not_found if it is not.
  Result<Chunk> chunk(Instance instance, std::uint32_t number);

  /// A piece of somebody's; it may be lost in a crash, which `partial` notices.
  Result<Done> store(const CheckpointInfo& checkpoint, std::uint32_t number, Bytes bytes);
  /// All pieces are stored: keeps it, and returns its bytes one behind the other. Errc::corrupt if
  /// a piece is missing or the whole is not what `checkpoint` says: then they are forgotten.
  Result<Chunk> complete(const CheckpointInfo& checkpoint);

  /// The bytes of one that is kept, every piece compared with `checkpoint`; and their digests.
  struct Image {
    Buffer bytes;
    std::vector<Digest> chunks;
  };
  Result<Image> load(const CheckpointInfo& checkpoint);
  /// Pieces that a former life of the process has stored; of the newest such checkpoint.
  Result<std::optional<PartialCheckpoint>> partial();

  /// All but those at or after `instance`, and the one at `kept`.
  Result<Done> forget_before(Instance instance, Instance kept = 0);

 private:
  struct Incoming {
    Instance instance = 0;
    std::unique_ptr<store::DiskFile> file;
  };
  Result<Done> receive(const CheckpointInfo& checkpoint);
  Result<Done> drop_incoming();

  store::Disk& disk_;
  std::optional<Incoming> incoming_;
  /// The last one that a piece was asked of.
  Instance open_ = 0;
  std::unique_ptr<store::DiskFile> open_file_;
  CheckpointInfo open_info_;
  std::uint64_t open_offset_ = 0;
};

}  // namespace piracema::smr
