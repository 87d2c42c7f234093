#include "smr/order/transfer/checkpoint.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "smr/order/messages/digest.h"
#include "wire/checksum.h"

namespace piracema::smr {

void Checkpoint::each_piece(const Use& use) const {
  if (make_again) return make_again(use);
  for (const auto& chunk : chunks) use(*chunk);
}

PieceCutter::PieceCutter(std::uint32_t chunk_bytes, std::function<void(Buffer)> cut)
    : chunk_bytes_(chunk_bytes), cut_(std::move(cut)) {
  ENSURE(chunk_bytes >= 1 && chunk_bytes <= chunk_bytes_max);
}

void PieceCutter::append(Bytes bytes) {
  while (!bytes.empty()) {
    const std::size_t room = chunk_bytes_ - piece_.size();
    const Bytes some = bytes.first(std::min(bytes.size(), room));
    bytes = bytes.subspan(some.size());
    piece_.append(some.data(), some.size());
    if (some.size() == room) cut_(std::exchange(piece_, {}));
  }
}

void PieceCutter::finish() {
  if (!piece_.empty()) cut_(std::exchange(piece_, {}));
}

Checkpoint make_checkpoint(Instance instance, std::uint64_t time, std::uint32_t chunk_bytes,
                           WriteImage write, Pieces pieces) {
  Checkpoint checkpoint;
  checkpoint.info.instance = instance;
  checkpoint.info.time = time;
  checkpoint.info.chunk_bytes = chunk_bytes;
  PieceCutter cutter(chunk_bytes, [&](Buffer piece) {
    checkpoint.info.bytes += piece.size();
    checkpoint.digests.push_back(digest_of(Bytes(piece)));
    if (pieces == Pieces::made_again) {
      checkpoint.checksums.push_back(wire::checksum(piece));
      return;
    }
    checkpoint.chunks.push_back(std::make_shared<const Buffer>(std::move(piece)));
  });
  write([&cutter](Bytes bytes) { cutter.append(bytes); });
  cutter.finish();
  checkpoint.info.chunk_count = static_cast<std::uint32_t>(checkpoint.digests.size());
  checkpoint.info.state = digest_of_chunks(checkpoint.digests);
  if (pieces == Pieces::made_again) {
    checkpoint.make_again = [write = std::move(write), chunk_bytes](const Checkpoint::Use& use) {
      PieceCutter again(chunk_bytes, [&use](const Buffer& piece) { use(piece); });
      write([&again](Bytes bytes) { again.append(bytes); });
      again.finish();
    };
  }
  return checkpoint;
}

Checkpoint make_checkpoint(Instance instance, std::uint64_t time, Bytes image,
                           std::uint32_t chunk_bytes) {
  return make_checkpoint(
      instance, time, chunk_bytes, [image](const Checkpoint::Use& use) { use(image); },
      Pieces::kept);
}

Digest digest_of_chunks(std::span<const Digest> chunks) {
  Buffer all;
  for (const Digest& digest : chunks) all.append(digest.data(), digest.size());
  return digest_of(Bytes(all));
}

}  // namespace piracema::smr
