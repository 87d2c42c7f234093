#pragma once

#include <piracema/smr/lease.h>

#include <memory>
#include <optional>
#include <string>

namespace piracema::smr::kv {

struct LockOptions {
  /// How long others wait after a holder has died; `lost` means that the lock is.
  LeaseOptions lease = {};
  /// What others read about the holder: the entry's value.
  std::string holder = {};
};

/// A lock on the name `key`: an entry of the map that is there as long as somebody holds it, with a
/// lease that is renewed by itself. Those who wait get it in no particular order.
///
/// What must not be written by somebody who has lost the lock and does not know it yet carries its
/// token: in the map as a `fence`, elsewhere as a number below which nothing is taken any more.
/// Tokens of one key only grow. One thread; `held` any.
class Lock {
 public:
  /// Waits until nobody else holds it, for `patience` at most, or as long as it takes.
  /// Errc::timeout says who has it; after it, and after all other errors, this process does not
  /// have it. `invoker` outlives the lock.
  static Result<std::unique_ptr<Lock>> acquire(
      Invoker& invoker, const std::string& key, const LockOptions& options = {},
      std::optional<std::chrono::milliseconds> patience = {});
  /// As `release`, without waiting for the answer.
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  Index token() const { return fence_.token; }
  /// For Put::fence and the like.
  const Fence& fence() const { return fence_; }
  /// Lease::alive of its lease.
  bool held() const { return lease_->alive(); }
  /// Lets others have it. An error says that nobody knows; they have it at the latest when the
  /// lease ends.
  Result<Done> release() { return lease_->release(); }

 private:
  Lock(std::unique_ptr<Lease> lease, Fence fence);

  std::unique_ptr<Lease> lease_;
  Fence fence_;
};

}  // namespace piracema::smr::kv
