#include "smr/order/transfer/checkpoint_fetch.h"

#include <algorithm>

#include "base/text.h"
#include "smr/mutant.h"
#include "smr/order/messages/digest.h"
#include "smr/order/transfer/checkpoint.h"

namespace piracema::smr {

CheckpointFetch::CheckpointFetch(CheckpointProof proof, Sources sources,
                                 std::optional<PartialCheckpoint> partial, Time resend_interval)
    : proof_(std::move(proof)),
      sources_(std::move(sources)),
      partial_(std::move(partial)),
      resend_interval_(resend_interval) {}

void CheckpointFetch::begin(Time now, std::vector<Action>& out) { ask(now, out); }

Time CheckpointFetch::patience() const {
  return 2 * resend_interval_ * (std::int64_t{1} << std::min(fruitless_, 6u));
}

void CheckpointFetch::ask(Time now, std::vector<Action>& out) {
  if (sources_.empty()) return;
  const Instance instance = proof_.checkpoint.instance;
  if (!has_manifest_) {
    if (manifest_asked_) return;
    manifest_asked_ = Asked{sources_.next(), now + patience()};
    out.emplace_back(Send{manifest_asked_->whom, message(ManifestRequest{instance}), false});
    return;
  }
  for (std::uint32_t i = 0; i < here_.size() && asked_.size() < chunks_in_flight; ++i) {
    if (here_[i] || asked_.count(i) != 0) continue;
    const ReplicaId whom = sources_.next();
    asked_[i] = {whom, now + patience()};
    out.emplace_back(Send{whom, message(ChunkRequest{instance, i}), false});
  }
}

void CheckpointFetch::distrust(ReplicaId who, const std::string& what, std::vector<Action>& out) {
  if (!sources_.has(who)) return;
  sources_.drop(who);
  out.emplace_back(Note{true, concat("replica ", who, " sent ", what, " of the checkpoint at ",
                                     proof_.checkpoint.instance, ": it is not asked again")});
}

void CheckpointFetch::on_manifest(Time now, ReplicaId from, const Manifest& manifest,
                                  std::vector<Action>& out) {
  const CheckpointInfo& info = proof_.checkpoint;
  if (has_manifest_ || manifest.instance != info.instance || !sources_.has(from)) return;
  manifest_asked_.reset();
  if (manifest.chunks.size() != info.chunk_count ||
      digest_of_chunks(manifest.chunks) != info.state) {
    distrust(from, "other digests", out);
    return ask(now, out);
  }
  fruitless_ = 0;
  has_manifest_ = true;
  chunks_ = manifest.chunks;
  here_.assign(chunks_.size(), false);
  if (partial_ && partial_->checkpoint.instance == info.instance) {
    const auto& had = partial_->chunks;
    for (std::size_t i = 0; i < std::min(here_.size(), had.size()); ++i) {
      here_[i] = had[i] == chunks_[i];
    }
  }
  missing_ = static_cast<std::uint32_t>(std::count(here_.begin(), here_.end(), false));
  ask(now, out);
}

void CheckpointFetch::on_chunk(Time now, ReplicaId from, const Chunk& chunk,
                               std::vector<Action>& out) {
  if (!has_manifest_ || chunk.instance != proof_.checkpoint.instance) return;
  if (chunk.chunk >= here_.size() || here_[chunk.chunk] || !sources_.has(from)) return;
  asked_.erase(chunk.chunk);
  if (digest_of(Bytes(*chunk.bytes)) != chunks_[chunk.chunk] && !SMR_MUTANT("unchecked_chunk")) {
    distrust(from, concat("a false piece ", chunk.chunk), out);
    return ask(now, out);
  }
  fruitless_ = 0;
  here_[chunk.chunk] = true;
  missing_ -= 1;
  out.emplace_back(StoreChunk{proof_.checkpoint, chunk.chunk, chunk.bytes});
  ask(now, out);
}

void CheckpointFetch::on_gone(Time now, ReplicaId from, std::vector<Action>& out) {
  if (!sources_.has(from)) return;
  sources_.drop(from);
  if (manifest_asked_ && manifest_asked_->whom == from) manifest_asked_.reset();
  std::erase_if(asked_, [from](const auto& one) { return one.second.whom == from; });
  ask(now, out);
}

PartialCheckpoint CheckpointFetch::partial() const {
  if (!has_manifest_) return partial_.value_or(PartialCheckpoint{});
  PartialCheckpoint partial{proof_.checkpoint, std::vector<std::optional<Digest>>(here_.size())};
  for (std::size_t i = 0; i < here_.size(); ++i) {
    if (here_[i]) partial.chunks[i] = chunks_[i];
  }
  return partial;
}

void CheckpointFetch::tick(Time now, std::vector<Action>& out) {
  bool in_vain = false;
  if (manifest_asked_ && now >= manifest_asked_->until) {
    manifest_asked_.reset();
    in_vain = true;
  }
  for (auto one = asked_.begin(); one != asked_.end();) {
    const bool over = now >= one->second.until;
    in_vain = in_vain || over;
    one = over ? asked_.erase(one) : std::next(one);
  }
  if (!in_vain) return;
  fruitless_ += 1;
  ask(now, out);
}

std::optional<Time> CheckpointFetch::next_deadline() const {
  std::optional<Time> next;
  if (manifest_asked_) next = manifest_asked_->until;
  for (const auto& [chunk, one] : asked_) {
    if (!next || one.until < *next) next = one.until;
  }
  return next;
}

}  // namespace piracema::smr
