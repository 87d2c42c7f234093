#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "cluster/smr/linear/clients.h"

namespace piracema::testing {

/// Clients that compete for a few keys which only one may have at a time, each with a lease: they
/// keep it alive for a while, and then give the key back or let the lease end. The end is in the
/// history of the key as what may happen from the moment on at which the holder could no longer
/// be sure, and not before: so a key that is lost too early, or held by two, is not linearizable.
class LeaseHolders {
 public:
  struct Figures {
    std::uint64_t held = 0, given_back = 0, left_to_end = 0;
    /// How long after its end, as the holder last heard of it, the key was seen to be taken still.
    Time outlived{};
  };

  /// They use the keys of the recorder from `first` on.
  LeaseHolders(const ClientPlace& place, std::size_t first, std::size_t count, std::uint64_t seed);
  ~LeaseHolders() { stop(); }
  void stop();
  Figures figures() const;

 private:
  class One;

  const ClientPlace place_;
  const std::size_t first_;
  std::atomic<bool> stopped_ = false;
  mutable std::mutex mutex_;
  Figures figures_;
  std::vector<std::thread> threads_;
};

}  // namespace piracema::testing
