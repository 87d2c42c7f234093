// What a liar says of the log and of checkpoints.
#include "sim/smr/liar.h"
#include "sim/smr/world.h"
#include "smr/order/messages/batch.h"
#include "smr/order/messages/digest.h"
#include "smr/order/messages/statements.h"

namespace piracema::smr_sim {

using namespace smr;

MessagePtr Liar::twist(const Chunk& chunk) {
  const auto made = false_checkpoints_.find(chunk.instance);
  if (made != false_checkpoints_.end()) {
    return smr::message(Chunk{chunk.instance, chunk.chunk, made->second.chunks[chunk.chunk]});
  }
  Buffer bytes(*chunk.bytes);
  if (!bytes.empty()) bytes.data()[random_.below(bytes.size())] ^= std::byte{1};
  return smr::message(
      Chunk{chunk.instance, chunk.chunk, std::make_shared<const Buffer>(std::move(bytes))});
}

// Always the same, with batches that fit the digests: found out by the proof alone.
MessagePtr Liar::twist(const LogSuffix& suffix) {
  LogSuffix lie = suffix;
  for (std::size_t i = 0; i < lie.digests.size(); ++i) {
    const BatchPtr instead = false_batch(lie.digests[i]);
    if (!instead) continue;
    lie.digests[i] = instead->digest;
    if (i < lie.batches.size()) lie.batches[i] = instead;
  }
  if (does(false_chunk) && random_.chance(0.1)) lie.proof.instance += 1;
  return smr::message(std::move(lie));
}

BatchPtr Liar::false_batch(const Digest& digest) {
  const auto known = batches_.find(digest);
  if (known == batches_.end() || static_cast<unsigned>(digest[0]) % 4 != 0) return nullptr;
  return make_batch(known->second->time + 1, known->second->requests);
}

MessagePtr Liar::twist(const FetchedBatch& fetched) {
  return smr::message(
      FetchedBatch{fetched.instance, make_batch(fetched.batch->time + 1, fetched.batch->requests)});
}

MessagePtr Liar::twist(const StateOffer& offer) {
  StateOffer lie = offer;
  switch (does(false_state) ? 3 : random_.below(4)) {
    case 0:
      lie.decided += 1'000;
      break;
    case 1:
      lie.regency += 1'000;
      break;
    case 2:
      lie.voted += 1'000'000;
      break;
    default:
      if (!lie.checkpoint) break;
      if (const Checkpoint* made = false_checkpoint(lie.checkpoint->checkpoint)) {
        lie.checkpoint->checkpoint.state = made->info.state;
      } else {
        lie.checkpoint->checkpoint.state = nonsense();
      }
  }
  return smr::message(std::move(lie));
}

MessagePtr Liar::twist(const Manifest& manifest) {
  Manifest lie = manifest;
  const auto made = false_checkpoints_.find(manifest.instance);
  if (made != false_checkpoints_.end()) {
    lie.chunks = made->second.digests;
    return smr::message(std::move(lie));
  }
  if (!lie.chunks.empty()) lie.chunks[random_.below(lie.chunks.size())] = nonsense();
  return smr::message(std::move(lie));
}

const Checkpoint* Liar::false_checkpoint(const CheckpointInfo& info) {
  if (!does(false_state)) return nullptr;
  const auto known = false_checkpoints_.find(info.instance);
  if (known != false_checkpoints_.end()) return &known->second;
  Checkpoint made{info, {}, {}};
  auto& files = world_.replica(me_).disk().checkpoints();
  for (std::uint32_t i = 0; i < info.chunk_count; ++i) {
    auto chunk = files.chunk(info.instance, i);
    if (!chunk) return nullptr;
    Buffer bytes(**chunk);
    if (i + 1 == info.chunk_count) bytes.data()[bytes.size() - 1] ^= std::byte{1};
    made.digests.push_back(digest_of(Bytes(bytes)));
    made.chunks.push_back(std::make_shared<const Buffer>(std::move(bytes)));
  }
  made.info.state = digest_of_chunks(made.digests);
  return &false_checkpoints_.emplace(info.instance, std::move(made)).first->second;
}

// Its signature is good: that is what it swears.
MessagePtr Liar::twist(const CheckpointVote& vote) {
  CheckpointVote lie = vote;
  lie.digest = nonsense();
  lie.signature = auth_.sign(signed_bytes(lie));
  return smr::message(std::move(lie));
}

}  // namespace piracema::smr_sim
