#include "smr/order/transfer/checkpoint.h"

#include <algorithm>

#include "base/ensure.h"
#include "smr/order/messages/digest.h"

namespace piracema::smr {

Checkpoint make_checkpoint(Instance instance, std::uint64_t time, Bytes image,
                           std::uint32_t chunk_bytes) {
  ENSURE(chunk_bytes >= 1 && chunk_bytes <= chunk_bytes_max);
  Checkpoint checkpoint;
  checkpoint.info.instance = instance;
  checkpoint.info.time = time;
  checkpoint.info.bytes = image.size();
  checkpoint.info.chunk_bytes = chunk_bytes;
  while (!image.empty()) {
    const Bytes chunk = image.first(std::min<std::size_t>(image.size(), chunk_bytes));
    image = image.subspan(chunk.size());
    checkpoint.digests.push_back(digest_of(chunk));
    checkpoint.chunks.push_back(std::make_shared<const Buffer>(chunk));
  }
  checkpoint.info.chunk_count = static_cast<std::uint32_t>(checkpoint.chunks.size());
  checkpoint.info.state = digest_of_chunks(checkpoint.digests);
  return checkpoint;
}

Digest digest_of_chunks(std::span<const Digest> chunks) {
  Buffer all;
  for (const Digest& digest : chunks) all.append(digest.data(), digest.size());
  return digest_of(Bytes(all));
}

}  // namespace piracema::smr
