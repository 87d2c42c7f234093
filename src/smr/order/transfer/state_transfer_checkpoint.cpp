#include <utility>

#include "base/text.h"
#include "smr/order/transfer/state_transfer.h"

/// State transfer by a checkpoint, where nobody has the batches any more.
namespace piracema::smr {

void StateTransfer::fetch_checkpoint(Time now, const CheckpointProof& proof, const Position& at,
                                     std::vector<Action>& out) {
  std::vector<ReplicaId> have;
  for (const auto& [from, offer] : offers_) {
    if (offer.checkpoint && offer.checkpoint->checkpoint.instance == proof.checkpoint.instance) {
      have.push_back(from);
    }
  }
  out.emplace_back(
      Note{false, concat("fetching the checkpoint at ", proof.checkpoint.instance, " (",
                         proof.checkpoint.bytes, " bytes): this replica is at ", at.decided)});
  phase_ = Phase::checkpoint;
  checkpoint_.emplace(proof, Sources(have), partial_, pace_);
  checkpoint_->begin(now, out);
}

void StateTransfer::on_manifest(Time now, ReplicaId from, const Manifest& manifest,
                                std::vector<Action>& out) {
  if (phase_ != Phase::checkpoint) return;
  checkpoint_->on_manifest(now, from, manifest, out);
  load_if_complete(out);
}

void StateTransfer::on_chunk(Time now, ReplicaId from, const Chunk& chunk,
                             std::vector<Action>& out) {
  if (phase_ != Phase::checkpoint) return;
  checkpoint_->on_chunk(now, from, chunk, out);
  load_if_complete(out);
}

StateTransfer::Fetched StateTransfer::fetched() const {
  if (!checkpoint_) return {};
  return {checkpoint_->here(), checkpoint_->proof().checkpoint.chunk_count};
}

void StateTransfer::load_if_complete(std::vector<Action>& out) {
  if (!checkpoint_->complete()) return;
  phase_ = Phase::loading;
  out.emplace_back(LoadCheckpoint{checkpoint_->proof().checkpoint});
}

std::optional<StateTransfer::Loaded> StateTransfer::on_loaded(const CheckpointLoaded& loaded,
                                                              std::vector<Action>& out) {
  if (phase_ != Phase::loading || loaded.instance != checkpoint_->proof().checkpoint.instance) {
    return std::nullopt;
  }
  phase_ = Phase::asking;
  answers_by_ = Time{};  // Ask again with the next tick.
  partial_.reset();
  if (!loaded.why.empty()) {
    out.emplace_back(
        Note{true, concat("the checkpoint at ", loaded.instance, " cannot be used: ", loaded.why)});
    checkpoint_.reset();
    return std::nullopt;
  }
  rounds_ = 0;
  Loaded result{checkpoint_->proof(), checkpoint_->chunks()};
  checkpoint_.reset();
  return result;
}

}  // namespace piracema::smr
