#include "sim/smr/disk.h"

#include <utility>

#include "base/ensure.h"
#include "sim/smr/mutants.h"

namespace piracema::smr_sim {

using namespace smr;

namespace {

/// So small that a run has many of them.
constexpr std::uint64_t segment_bytes = 16 << 10;

}  // namespace

Result<Storage::Opened> Disk::open(ReplicaId me, std::uint64_t nonce) {
  ENSURE(!storage_);
  auto opened = Storage::open(disk_, {.me = me,
                                      .group = "simulated",
                                      .nonce = nonce,
                                      .first_start = std::exchange(new_, false),
                                      .segment_bytes = segment_bytes,
                                      .ahead_bytes = 0});
  if (!opened) return opened;
  storage_ = std::move(opened->storage);
  next_record_ = storage_->first_sequence();
  return opened;
}

void Disk::append(const LogRecord& record) {
  storage_->index().note(next_record_++, record);
  const EncodedMessage encoded = encode(record);
  Buffer& body = waiting_.begin();
  body.append(encoded.head.data(), encoded.head.size());
  if (encoded.body) body.append(encoded.body->data(), encoded.body->size());
  waiting_.end();
  appended_ += 1;
}

bool Disk::begin_sync() {
  if (waiting_.empty() || !syncing_.empty()) return false;
  std::swap(waiting_, syncing_);
  syncing_upto_ = appended_;
  return true;
}

Result<Done> Disk::end_sync() {
  const bool misdirected = std::exchange(misdirect_, false);
  if (misdirected) disk_.misdirect_next_write(512 * (1 + random_.below(8)));
  auto committed = storage_->commit(syncing_);
  syncing_.clear();
  if (!committed && !planted("sync_error_ignored")) return committed.error();
  // The log cannot tell damage to its very last commit from a crash until it has said once more
  // how far it is (docs/formats/log.md): what comes together with a loss of power is left out.
  if (misdirected) {
    if (auto settled = storage_->settle(); !settled) return settled;
  }
  durable_ = syncing_upto_;
  return carry_out_truncations();
}

// As Persistence does it.
void Disk::truncate(Instance instance, Instance kept) {
  const LogIndex::Truncation truncation = storage_->index().truncate(instance);
  if (!planted("truncate_kinds")) {
    for (const LogRecord& record : truncation.again) append(record);
  }
  truncations_.push_back({appended_, instance, kept, truncation.floor});
}

Result<Done> Disk::carry_out_truncations() {
  while (!truncations_.empty() && truncations_.front().after <= durable_) {
    storage_->truncate(truncations_.front().floor);
    const Truncation& first = truncations_.front();
    auto forgotten = checkpoints().forget_before(first.instance, first.kept);
    if (!forgotten) return forgotten;
    truncations_.pop_front();
  }
  return Done{};
}

void Disk::forget_life() {
  storage_.reset();
  appended_ = durable_ = syncing_upto_ = 0;
  waiting_.clear();
  syncing_.clear();
  truncations_.clear();
  misdirect_ = false;
}

// In the midst of a sync some of its writes have been made.
void Disk::crash() {
  if (storage_ && !syncing_.empty()) {
    disk_.stop_after(random_.below(4));
    static_cast<void>(storage_->commit(syncing_));
  }
  forget_life();
  disk_.crash();
}

void Disk::end() {
  forget_life();
  disk_.restart();
}

void Disk::lose() {
  forget_life();
  disk_.lose_everything();
}

void Disk::rot() {
  if (storage_ && !storage_->settle()) return;
  disk_.rot_somewhere("");
}

}  // namespace piracema::smr_sim
