#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smr/order/messages/messages.h"
#include "store/disk/disk.h"

/// The files of checkpoints (docs/formats/replica.md): one that is kept is a head and its pieces,
/// one that is being received a head and a slot for each piece.
namespace piracema::smr {

constexpr std::string_view kept_prefix = "checkpoint-";
constexpr std::string_view incoming_prefix = "incoming-";
std::string name_of(std::string_view prefix, Instance instance);
std::optional<Instance> instance_in(std::string_view name, std::string_view prefix);

/// What comes before the pieces.
struct CheckpointHead {
  CheckpointInfo info;
  /// Empty in a file that is being received.
  std::vector<Digest> chunks;
  auto fields() { return std::tie(info, chunks); }
};
Buffer encode_head(CheckpointHead head);

struct HeadInFile {
  CheckpointHead head;
  std::uint64_t end = 0;
};
/// With `name`: Errc::refused for what another version has made, Errc::corrupt for what none has.
Result<HeadInFile> read_head(store::DiskFile& file, const std::string& name);

/// Whether the number of pieces is that of the bytes.
bool makes_sense(const CheckpointInfo& info);
/// Only the last piece is shorter than the others.
std::uint64_t bytes_of_chunk(const CheckpointInfo& info, std::uint32_t number);

std::uint64_t slot_bytes(const CheckpointInfo& info);
std::uint64_t slot_of(const HeadInFile& head, std::uint32_t number);
Buffer encode_slot(Bytes chunk);
/// The piece in its slot; nullopt if it was never there, or is not what was written.
Result<std::optional<Buffer>> read_slot(store::DiskFile& file, const HeadInFile& head,
                                        std::uint32_t number);

}  // namespace piracema::smr
