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
  /// When it has to be ready after a Deploy, unless it gets on; nothing once it is.
  std::optional<Time> ready_by() const { return ready_by_; }
  /// An operator has not returned yet from what it was at before the Deploy, as far as is known.
  bool is_busy() const { return busy_; }

  void start(std::optional<Time> join_by);
  void join(std::string address, std::optional<Time> heard_by);
  void heard(std::optional<Time> heard_by);
  /// It has to be ready within this time, or say that it gets on.
  void deploy(Time now, std::optional<Time> within);
  /// How far it is, and what it has from its last progress on.
  void restores(Time now, std::uint64_t progress, bool busy, Time within);
  /// It is asked for no earlier.
  void put_off(Time ready_by) { ready_by_ = ready_by; }
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
  /// Of its way back to a snapshot.
  std::uint64_t progress_ = 0;
  Time progressed_at_{};
  bool busy_ = true;
  std::vector<std::uint32_t> may_live_;
  bool fresh_ = true;
  bool ready_ = false;
  bool forgiven_ = false;
  Fault fault_ = Fault::none;
  std::uint32_t failed_starts_ = 0;
};

}  // namespace piracema::cluster
