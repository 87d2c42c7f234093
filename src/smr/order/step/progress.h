#pragma once

#include <cstdint>
#include <optional>

#include "smr/order/messages/messages.h"

namespace piracema::smr {

/// How far this replica is: what is decided without a gap and was handed out, and what of it the
/// service has executed.
class Progress {
 public:
  /// Up to here everything is decided and was handed out.
  Instance decided() const { return decided_; }
  /// Over all batches up to there, in their order.
  const Digest& history() const { return history_; }
  /// Never above decided().
  Instance executed() const { return executed_; }
  /// When the service wants a tick, by the agreed time; as of executed().
  const std::optional<std::uint64_t>& timer() const { return timer_; }

  /// The next instance is decided, and the batch is handed out.
  void hand_out(const Digest& batch);
  /// The service has executed up to `instance`; what is old is ignored.
  void executed(Instance instance, std::optional<std::uint64_t> timer);
  /// The service is a checkpoint.
  void jump_to(Instance instance, const Digest& history);

 private:
  Instance decided_ = 0, executed_ = 0;
  Digest history_{};
  std::optional<std::uint64_t> timer_;
};

}  // namespace piracema::smr
