#pragma once

#include <piracema/error.h>
#include <piracema/smr/invoker.h>
#include <piracema/smr/key_value.h>

#include <chrono>
#include <functional>
#include <memory>

namespace piracema::smr::kv {

struct LeaseOptions {
  /// How long it outlives a holder that dies, from 100 ms. The holder has an eighth less: so much
  /// may the clocks of machines differ over that time, and between leaders.
  std::chrono::milliseconds ttl{10'000};
  /// Called once if it is lost, on a thread of the lease's: the group did not answer for so long,
  /// or says that it has ended. Must neither release nor destroy the lease.
  std::function<void()> lost = {};
};

/// A lease of the map that is kept alive until it is released or lost; put entries with its `id`,
/// and they go with it. Asks the group four times within `ttl`. Any thread; has one of its own.
///
/// To count one's time is not enough where writes must not come late, as a process may stand still
/// between looking at the clock and writing: such writes carry a Fence.
class Lease {
 public:
  /// `invoker` outlives it. Errors are those of the invoker; Errc::refused if there are too many
  /// leases, Errc::config for a `ttl` that is out of range.
  static Result<std::unique_ptr<Lease>> grant(Invoker& invoker, const LeaseOptions& options);
  /// As `release`, without waiting for the answer.
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  Index id() const;
  /// Whether nobody can have seen it end: by this process's clock, counted from before the group
  /// was asked.
  bool alive() const;
  /// The lease is lost as well when this no longer holds: somebody has removed the entry. Noticed
  /// when it is next renewed.
  void guard(const Fence& fence);
  /// Ends it now, with its entries. `lost` is not called any more.
  Result<Done> release();

 private:
  struct Parts;
  explicit Lease(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace piracema::smr::kv
