#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace piracema::cluster {

/// One slot of a job and the processes that have it, one after the other. Keeps the facts and the
/// deadlines; what to do about them is the coordinator's.
class Member {
 public:
  enum class State {
    absent,    ///< No process; the next one may be started at `deadline`.
    starting,  ///< Has to join by `deadline`.
    joined,    ///< Has to be heard by `deadline`.
    ending,    ///< Was killed; given up at `deadline` if it is not known to be gone by then.
  };

  /// What it was ended for, if it may have done that itself.
  enum class Fault { none, silent, hung_up };

  State state() const { return state_; }
  /// Of the process that has the slot, or will have it next.
  std::uint32_t incarnation() const { return incarnation_; }
  const std::string& address() const { return address_; }
  std::optional<Time> deadline() const { return deadline_; }
  /// When it has to be ready after a Deploy; nothing once it is.
  std::optional<Time> ready_by() const { return ready_by_; }

  void start(std::optional<Time> join_by);
  void join(std::string address, std::optional<Time> heard_by);
  void heard(std::optional<Time> heard_by);
  void deploy(std::optional<Time> ready_by);
  void ready();
  void end(Time given_up_at, Fault fault = Fault::none);
  /// The process is gone for certain, or else is given up (`may_live`). The next one follows.
  void leave(Time next_at, bool gone);

  /// News of a process of old: it does not live any longer.
  void gone(std::uint32_t incarnation);
  /// A process of an earlier incarnation could not be ended for certain.
  bool may_live() const { return !may_live_.empty(); }

  /// Has been ready for no Deploy yet: it loads its program as well as its state.
  bool fresh() const { return fresh_; }
  bool is_ready() const { return ready_; }
  /// Of the process that is ending.
  Fault fault() const { return fault_; }
  /// Processes in a row that have ended before they joined.
  std::uint32_t failed_starts() const { return failed_starts_; }

  /// Moves the deadlines, once between two signs of life: it was our clock that stood still.
  void forgive(Time lateness);

 private:
  State state_ = State::absent;
  std::uint32_t incarnation_ = 0;
  std::string address_;
  std::optional<Time> deadline_, ready_by_;
  std::vector<std::uint32_t> may_live_;
  bool fresh_ = true;
  bool ready_ = false;
  bool forgiven_ = false;
  Fault fault_ = Fault::none;
  std::uint32_t failed_starts_ = 0;
};

}  // namespace piracema::cluster
