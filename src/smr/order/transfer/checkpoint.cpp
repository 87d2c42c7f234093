#include "smr/order/transfer/checkpoint.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "smr/order/messages/digest.h"

namespace piracema::smr {

CheckpointWriter::CheckpointWriter(Instance instance, std::uint64_t time,
                                   std::uint32_t chunk_bytes) {
  ENSURE(chunk_bytes >= 1 && chunk_bytes <= chunk_bytes_max);
  checkpoint_.info.instance = instance;
  checkpoint_.info.time = time;
  checkpoint_.info.chunk_bytes = chunk_bytes;
}

void CheckpointWriter::append(Bytes bytes) {
  checkpoint_.info.bytes += bytes.size();
  while (!bytes.empty()) {
    const std::size_t room = checkpoint_.info.chunk_bytes - piece_.size();
    const Bytes some = bytes.first(std::min(bytes.size(), room));
    bytes = bytes.subspan(some.size());
    if (piece_.size() == 0) piece_.reserve(checkpoint_.info.chunk_bytes);
    piece_.append(some.data(), some.size());
    if (some.size() == room) cut();
  }
}

void CheckpointWriter::cut() {
  checkpoint_.digests.push_back(digest_of(Bytes(piece_)));
  checkpoint_.chunks.push_back(std::make_shared<const Buffer>(std::exchange(piece_, {})));
}

Checkpoint CheckpointWriter::finish() {
  if (piece_.size() != 0) cut();
  checkpoint_.info.chunk_count = static_cast<std::uint32_t>(checkpoint_.chunks.size());
  checkpoint_.info.state = digest_of_chunks(checkpoint_.digests);
  return std::move(checkpoint_);
}

Checkpoint make_checkpoint(Instance instance, std::uint64_t time, Bytes image,
                           std::uint32_t chunk_bytes) {
  CheckpointWriter writer(instance, time, chunk_bytes);
  writer.append(image);
  return writer.finish();
}

Digest digest_of_chunks(std::span<const Digest> chunks) {
  Buffer all;
  for (const Digest& digest : chunks) all.append(digest.data(), digest.size());
  return digest_of(Bytes(all));
}

}  // namespace piracema::smr
