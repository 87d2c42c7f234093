#pragma once

#include <deque>
#include <vector>

#include "smr/order/messages/messages.h"

namespace piracema::smr {

/// Of one LogSuffix.
constexpr std::size_t suffix_bytes_max = std::size_t{4} << 20;
constexpr std::size_t suffix_digests_max = 32'768;

/// The decided batches since the last stable checkpoint, for replicas that are behind. Checkpoints
/// bound it: one is due after checkpoint_bytes at the latest, and few may be due and not stable
/// (Checkpoints::horizon). Pure.
class DecidedLog {
 public:
  /// In order, without gaps.
  void add(Instance instance, BatchPtr batch);
  /// Nobody needs what is up to here: a checkpoint has it.
  void truncate(Instance instance);
  /// After a jump to a checkpoint.
  void restart_after(Instance instance);

  /// The oldest one that is there; one after the last one if there is none.
  Instance first() const { return first_; }
  Instance end() const { return first_ + batches_.size(); }

  /// Null if it is not there.
  BatchPtr find(Instance instance) const {
    return instance < first_ || instance >= end() ? nullptr : batches_[instance - first_];
  }
  /// What was asked for, as far as it is there and fits; without the proof. Empty lists if not.
  LogSuffix suffix(const LogRequest& request) const;

 private:
  Instance first_ = 1;
  std::deque<BatchPtr> batches_;
};

}  // namespace piracema::smr
