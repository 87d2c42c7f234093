#include "run/worker/epoch_start.h"

namespace piracema::runtime {

void EpochStart::begin(Epoch epoch, std::size_t replicas, std::vector<Peer> peers) {
  std::lock_guard lock(mutex_);
  epoch_.store(epoch);
  to_begin_ = replicas;
  to_connect_ = std::move(peers);
}

void EpochStart::begun(Epoch epoch) {
  {
    std::lock_guard lock(mutex_);
    if (epoch != epoch_.load()) return;
    to_begin_ -= 1;
  }
  check_ready();
}

void EpochStart::connected(Slot peer, std::uint32_t incarnation) {
  std::lock_guard lock(mutex_);
  std::erase_if(to_connect_,
                [&](const Peer& p) { return p.slot == peer && p.incarnation == incarnation; });
}

bool EpochStart::all_connected() {
  std::lock_guard lock(mutex_);
  return to_connect_.empty() && epoch_.load() != 0;
}

void EpochStart::check_ready() {
  std::lock_guard lock(mutex_);
  if (to_begin_ != 0 || !to_connect_.empty() || said_ready_ == epoch_.load()) return;
  said_ready_ = epoch_.load();
  ready_(said_ready_);
}

std::optional<std::size_t> EpochStart::left() {
  std::lock_guard lock(mutex_);
  if (epoch_.load() == 0 || said_ready_ == epoch_.load()) return std::nullopt;
  return to_begin_ + to_connect_.size();
}

bool EpochStart::keep_early(Slot from, wire::Frame& frame) {
  std::lock_guard lock(mutex_);
  if (frame.epoch <= epoch_.load()) return false;
  early_.emplace_back(from, std::move(frame));
  return true;
}

EpochStart::Early EpochStart::take_early() {
  std::lock_guard lock(mutex_);
  return std::exchange(early_, {});
}

}  // namespace piracema::runtime
