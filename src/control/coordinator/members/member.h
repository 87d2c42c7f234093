#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "control/loss_cause.h"

namespace piracema::cluster {

/// The process that has a slot of a job, as far as its coordinator knows. What to do about it is
/// the coordinator's; how long it may be silent is the failure detector's.
class Member {
 public:
  enum class State {
    absent,    ///< No process; the next one may be started at `due`.
    starting,  ///< Has to join.
    detached,  ///< Was there when the coordinator's predecessor was; has to attach.
    joined,    ///< Has to be heard.
    ending,    ///< Was killed; given up at `due` if it is not known to be gone by then.
  };

  State state() const { return state_; }
  const std::string& address() const { return address_; }
  /// Of one that is absent or ending.
  std::optional<Time> due() const { return due_; }

  void start();
  void detach();
  void join(std::string address);
  /// It is there, where it was before.
  void attach();
  void deploy() { ready_ = false; }
  void ready() { ready_ = true; }
  void end(Time given_up_at, LossCause cause = LossCause::other);
  /// The process is gone, or given up. The next one follows.
  void leave(Time next_at);

  bool is_ready() const { return ready_; }
  /// Why the process that is ending was ended.
  LossCause cause() const { return cause_; }
  /// Processes in a row that have ended before they joined.
  std::uint32_t failed_starts() const { return failed_starts_; }

 private:
  State state_ = State::absent;
  std::string address_;
  std::optional<Time> due_;
  bool ready_ = false;
  LossCause cause_ = LossCause::other;
  std::uint32_t failed_starts_ = 0;
};

}  // namespace piracema::cluster
