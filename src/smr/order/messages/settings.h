#pragma once

#include <piracema/error.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "smr/ids.h"

namespace piracema::smr {

using std::chrono::milliseconds;

/// A change of the view comes into force so many instances after the one that decided it, so that
/// everybody knows the members of an instance before it votes there: no window is wider.
constexpr Instance view_delay = 32;
/// Byzantine: each replica signs its decisions once in so many instances.
constexpr Instance milestone_interval = 32;
/// Nothing is proposed so far above the last proven decision: it bounds what a change of the
/// leader has to carry.
constexpr Instance unproven_max = 4 * milestone_interval;

/// Instances that stay in memory after they were decided, for replicas that missed a message.
constexpr Instance kept_decided = 64;

/// How a replica orders requests. The same on all of them but for the times.
struct Settings {
  /// Instances that a leader has open at once; at most view_delay.
  std::uint32_t window = 8;
  /// Requests in a batch, and their bytes. A batch is proposed as soon as the window has room.
  std::size_t batch_requests = 1024;
  std::size_t batch_bytes = std::size_t{1} << 20;

  /// A request that is not ordered for so long is forwarded to the leader, and after as long again
  /// a change of the leader is asked for. Doubles with each change that brings nothing.
  milliseconds request_timeout{2'000};
  /// The leader says so often that it lives, if it says nothing else.
  milliseconds heartbeat_interval{50};
  /// A leader that is silent for so long is replaced. Where its connection ends it is not waited
  /// for: LinkLost tells.
  milliseconds silence_timeout{600};
  /// How long a new leader has for its first SYNC. Doubles likewise.
  milliseconds sync_timeout{600};
  /// How often something is said again that may have been lost.
  milliseconds resend_interval{100};

  /// Byzantine: how far a leader's clock may run ahead of the others', once; leases end too early
  /// by no more (ClockBound).
  milliseconds clock_credit{1'000};

  /// Checkpoints are taken at multiples of this. At least view_delay.
  Instance checkpoint_interval = 4'096;
  /// Decided, but not executed: no more votes beyond that.
  Instance backlog = 1'024;

  /// Waiting requests of one client and their bytes; and in all.
  std::size_t client_requests = 1'024;
  std::size_t client_bytes = std::size_t{32} << 20;
  std::size_t pool_requests = 65'536;
  std::size_t pool_bytes = std::size_t{256} << 20;
  /// The largest operation that is ordered.
  std::size_t operation_bytes = std::size_t{4} << 20;
};

/// Errc::config with one line for a window of 0 or above view_delay and the like.
Result<Settings> validate(Settings settings);

}  // namespace piracema::smr
