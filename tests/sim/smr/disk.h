#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "base/random.h"
#include "smr/order/core.h"
#include "smr/order/log_record.h"
#include "smr/service/checkpoint.h"

namespace piracema::smr_sim {

/// What a replica keeps through a crash, without bytes: of records that were not synced any number
/// of the last ones is lost, as from a log whose tail is cut at the first bad record. (store's
/// MemoryDisk does it with bytes; smr/node/storage is tested on that.)
class Disk {
 public:
  void append(smr::LogRecord record) { records_.push_back(std::move(record)); }
  /// Records ever appended in this life.
  std::size_t appended() const { return gone_ + records_.size(); }
  std::size_t records() const { return records_.size(); }
  void synced(std::size_t upto) { durable_ = std::max(durable_, upto); }
  std::size_t durable() const { return durable_; }

  /// What is about instances up to here goes, and of what is about none all but the last of each
  /// kind; of what was not yet appended when `appended` was so much, nothing.
  void truncate(smr::Instance instance, std::size_t appended) {
    std::array<std::size_t, std::variant_size_v<smr::LogRecord>> last{};
    for (std::size_t i = 0; i < records_.size(); ++i) last[records_[i].index()] = i;
    std::vector<smr::LogRecord> kept;
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const auto place = smr::instance_of(records_[i]);
      const bool stays = gone_ + i >= appended || place > instance ||
                         (place == 0 && last[records_[i].index()] == i);
      if (stays) kept.push_back(std::move(records_[i]));
    }
    gone_ += records_.size() - kept.size();
    records_ = std::move(kept);
  }

  void crash(Random& random) {
    if (durable_ < appended()) {
      const std::size_t lost = random.below(appended() - durable_ + 1);
      records_.resize(records_.size() - std::min(lost, records_.size()));
    }
    durable_ = appended();
  }

  const std::vector<smr::LogRecord>& log() const { return records_; }

  /// Checkpoints survive from when they are kept, whole.
  void keep(smr::Instance instance, smr::Checkpoint checkpoint) {
    checkpoints_[instance] = std::move(checkpoint);
  }
  void forget_checkpoints(smr::Instance below) {
    checkpoints_.erase(checkpoints_.begin(), checkpoints_.lower_bound(below));
  }
  const smr::Checkpoint* checkpoint(smr::Instance instance) const {
    const auto found = checkpoints_.find(instance);
    return found == checkpoints_.end() ? nullptr : &found->second;
  }
  /// The one that recovery begins with: the last that the log says is stable, and what it says of
  /// it.
  struct Stable {
    smr::CheckpointInfo info;
    const smr::Checkpoint* checkpoint = nullptr;
  };
  std::optional<Stable> stable() const {
    std::optional<Stable> found;
    for (const auto& record : records_) {
      const auto* stable = std::get_if<smr::CheckpointStable>(&record);
      if (stable == nullptr) continue;
      const auto& info = stable->proof.checkpoint;
      if (const auto* there = checkpoint(info.instance)) found = Stable{info, there};
    }
    return found;
  }
  std::size_t checkpoints() const { return checkpoints_.size(); }

  /// Of a checkpoint that is being received.
  struct Partial {
    smr::CheckpointInfo info;
    std::map<std::uint32_t, std::shared_ptr<const Buffer>> chunks;
  };
  std::optional<Partial> partial;

 private:
  std::vector<smr::LogRecord> records_;
  /// Of those before records_, truncated.
  std::size_t gone_ = 0;
  std::size_t durable_ = 0;
  std::map<smr::Instance, smr::Checkpoint> checkpoints_;
};

}  // namespace piracema::smr_sim
