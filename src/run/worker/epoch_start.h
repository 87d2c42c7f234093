#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "control/messages/control.h"
#include "wire/frame.h"

namespace piracema::runtime {

/// Which epoch a process is in, and what that waits for before the process is ready: replicas that
/// have to begin, and processes that have to be connected. Holds what others, who have heard of an
/// epoch already, have sent of it. Any thread.
class EpochStart {
 public:
  using Early = std::vector<std::pair<Slot, wire::Frame>>;

  /// `ready` is called once in an epoch, under a lock of this.
  explicit EpochStart(std::function<void(Epoch)> ready) : ready_(std::move(ready)) {}

  /// 0: in none yet. Without a lock.
  Epoch epoch() const { return epoch_.load(); }

  /// So many replicas have to begin, and these processes to be connected.
  void begin(Epoch epoch, std::size_t replicas, std::vector<Peer> peers);
  /// One of the replicas has begun.
  void begun(Epoch epoch);
  void connected(Slot peer, std::uint32_t incarnation);
  /// All who something could be for can be reached; not before there is an epoch.
  bool all_connected();
  /// Calls `ready` if nothing is waited for any more.
  void check_ready();
  /// How much is waited for; none if the process is ready, or in no epoch.
  std::optional<std::size_t> left();

  /// Keeps a frame of an epoch that is yet to begin; false, and nothing is taken, if it has.
  bool keep_early(Slot from, wire::Frame& frame);
  /// What was kept: the epoch has begun. It may be of a later one yet.
  Early take_early();

 private:
  const std::function<void(Epoch)> ready_;
  std::atomic<Epoch> epoch_{0};
  std::mutex mutex_;
  Early early_;
  std::size_t to_begin_ = 0;
  std::vector<Peer> to_connect_;
  Epoch said_ready_ = 0;
};

}  // namespace piracema::runtime
