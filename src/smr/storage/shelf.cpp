#include "smr/storage/shelf.h"

namespace piracema::smr {

void Shelf::put(const Checkpoint& checkpoint) {
  checkpoints_[checkpoint.info.instance] = checkpoint.chunks;
}

void Shelf::put(const CheckpointInfo& checkpoint, std::uint32_t number, Chunk chunk) {
  auto& chunks = checkpoints_[checkpoint.instance];
  chunks.resize(checkpoint.chunk_count);
  if (number < chunks.size()) chunks[number] = std::move(chunk);
}

Shelf::Chunk Shelf::find(Instance instance, std::uint32_t number) const {
  const auto found = checkpoints_.find(instance);
  if (found == checkpoints_.end() || number >= found->second.size()) return nullptr;
  return found->second[number];
}

Shelf::Chunk Shelf::image(const CheckpointInfo& checkpoint) const {
  auto bytes = std::make_shared<Buffer>();
  for (std::uint32_t i = 0; i < checkpoint.chunk_count; ++i) {
    const Chunk chunk = find(checkpoint.instance, i);
    if (!chunk) return nullptr;
    bytes->append(chunk->data(), chunk->size());
  }
  return bytes;
}

void Shelf::forget_before(Instance instance, Instance kept) {
  std::erase_if(checkpoints_,
                [&](const auto& one) { return one.first < instance && one.first != kept; });
}

}  // namespace piracema::smr
