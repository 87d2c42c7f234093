#pragma once

#include <string>

#include "base/clock.h"
#include "cluster/driver/steadiness.h"
#include "control/coordinator_settings.h"

namespace piracema::cluster {

/// What is known of a host of a job, and of the agent there: whether the job wants it, whether
/// processes can be started there, and what is still to be heard of an agent that ends. Pure.
class HostStanding {
 public:
  /// What is known of it from before.
  enum class Known {
    expected,  ///< It was never up, and the job does not begin without it.
    added,     ///< It was never up, and the job has begun without it.
    been_up,
  };

  /// `here`: it is this machine, whose agent's process we see.
  HostStanding(bool here, Known known) : here_(here), known_(known) {}

  Known known() const { return known_; }
  bool is_here() const { return here_; }

  // ---- what the job does with it ---------------------------------------------------------------
  /// True if it is wanted, and was not.
  bool want(bool wanted);
  bool is_wanted() const { return wanted_; }
  /// It is not, or its agent was told to leave.
  bool is_draining() const { return !wanted_ || leaving_; }

  // ---- the agent that the coordinator before has called ----------------------------------------
  /// It was there, or else the job would not have begun.
  void await_former();
  void give_up_former() { former_ = Former::none; }
  bool awaits_former() const { return former_ == Former::awaited; }
  void former_comes() { former_ = Former::came_back; }
  bool former_came() const { return former_ == Former::came_back; }

  // ---- its agent -------------------------------------------------------------------------------
  /// It is connected, and has yet to say that it can start what it is told to.
  void agent_comes(Time now);
  void heard(Time now) { heard_at_ = now; }
  /// Nobody has listened for so long.
  void nobody_listened(Time for_so_long) { heard_at_ += for_so_long; }
  /// It can start processes, unless it was sent away meanwhile. What was known before.
  Known agent_ready();
  bool is_up() const { return agent_ == Agent::up; }
  /// It was told to leave, there. True: for the first time.
  bool told_to_leave();
  bool was_told_to_leave() const { return leaving_; }
  /// We tell it to. False if we have done so before.
  bool send_away();
  bool was_sent_away() const { return agent_ == Agent::sent_away; }

  // ---- how it ends: by its connection and, where we see that, by its process -------------------
  /// It speaks until the other one has ended, too.
  void begin_to_end();
  void process_ended(const std::string& how);
  void line_ended();
  bool has_line_ended() const { return over_ == Over::line; }
  bool has_process_ended() const { return over_ == Over::process; }
  /// When that has.
  const std::string& how_process_ended() const { return how_it_ended_; }
  /// There is none any more. True if it was sent away.
  bool agent_lost();

  // ---- how well it can be used -----------------------------------------------------------------
  Time silent_for(Time now) const { return now - heard_at_; }
  /// Sooner than a worker there is given up: its successor is not to be sent after it.
  bool was_just_heard(Time now, const JobSettings& settings) const {
    return silent_for(now) < 3 * settings.heartbeat_interval;
  }
  bool is_silent(Time now, const JobSettings& settings) const {
    return is_up() && silent_for(now) > 2 * settings.heartbeat_timeout;
  }
  /// What is here is busy, or stopped, and takes what it is told when it goes on.
  bool can_start(Time now, const JobSettings& settings) const {
    return is_up() && !is_draining() && (here_ || was_just_heard(now, settings));
  }
  /// Call from time to time.
  void look(Time now, const JobSettings& settings) {
    steadiness_.look(now, can_start(now, settings));
  }
  /// It can start processes, and could without a gap for as long as Steadiness wants.
  bool is_steady(Time now, const JobSettings& settings) const {
    return can_start(now, settings) && steadiness_.is_steady(now);
  }
  /// For people, as HostStatus has it.
  const char* name(Time now, const JobSettings& settings) const;

 private:
  enum class Former { none, awaited, came_back };
  /// The agent that is connected.
  enum class Agent {
    none,
    preparing,  ///< It was told what it will start, and has yet to say that it can.
    up,
    ending,     ///< Its connection or its process is over, and what is left of it may still speak.
    sent_away,  ///< We have told it to leave.
  };
  /// Of an agent whose process we see: the one has ended, and the other has yet to.
  enum class Over { nothing, line, process };

  bool here_;
  Known known_;
  Former former_ = Former::none;
  Agent agent_ = Agent::none;
  Over over_ = Over::nothing;
  /// The process.
  std::string how_it_ended_;
  bool wanted_ = true;
  bool leaving_ = false;
  Time heard_at_{};
  Steadiness steadiness_;
};

}  // namespace piracema::cluster
