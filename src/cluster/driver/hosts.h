#pragma once

#include <piracema/error.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cluster/driver/agent_doors.h"
#include "cluster/driver/call_pause.h"
#include "cluster/driver/door.h"
#include "cluster/driver/driver.h"
#include "cluster/driver/host_standing.h"
#include "cluster/driver/staged_program.h"
#include "cluster/driver/taken_output.h"
#include "host/agent_call.h"
#include "host/agent_messages.h"
#include "loop/poller.h"

namespace piracema::cluster {

/// The hosts of a job, each with an agent that starts and watches processes there. A host that is
/// lost is called again as long as the job lasts. Hosts are named by their numbers in JobOptions.
/// The agent of this machine is a process that we start, at the other end of a socket; the others
/// are brought to their hosts and call. Belongs to the poller's thread.
class Hosts {
 public:
  struct Events {
    /// The host can start processes, for the first time or again.
    std::function<void(std::size_t host)> up;
    /// It could not be reached at the start of the job.
    std::function<void(Error why)> unreachable;
    /// Nothing more is heard of it, nor of its processes, which may live.
    std::function<void(std::size_t host, const std::string& why)> lost;
    /// Ended, NotStarted, AtWorkNow or AgentPulse.
    std::function<void(std::size_t host, const FromAgent&)> said;
    /// An agent of the coordinator before has come, with what it has kept running.
    std::function<void(std::size_t host, const std::vector<RunningProcess>&)> came_back = {};
    /// Whether this coordinator may end what is not expected or not heard of; empty: it may.
    std::function<bool()> may_send_away = {};
    /// Where all coordinators of the job are by now; none: where this one is.
    std::function<std::vector<std::string>()> coordinators = {};
    /// Its agent was told to leave: the host is draining.
    std::function<void(std::size_t host)> leaving = {};
  };
  /// What each agent is told of the processes that it will start; their coordinator is added.
  using SetupFor = std::function<Setup(std::size_t host, const std::string& coordinator)>;

  Hosts(net::Poller& poller, const JobOptions& options, std::string token, Door& door,
        SetupFor setup_for, Events events);
  ~Hosts();

  /// Calls them all. Errc::config when something of ours is missing, Errc::io without a way there.
  Result<Done> call_all();
  /// Waits for the agents that the coordinator before has called, and calls those that do not come
  /// by `until`. `term` is ours: no call of an earlier one has our numbers. Errors as `call_all`.
  Result<Done> wait_for_all(Time until, std::uint64_t term);
  /// All of these have come; none was too late.
  bool all_came_back() const;
  /// But for those that were added, and those that are not wanted.
  bool all_up() const;
  bool is_up(std::size_t host) const { return hosts_[host].standing.is_up(); }

  /// One more, the last of the options, which is not called yet.
  void add() {
    hosts_.emplace_back(
        HostStanding(options_.hosts[hosts_.size()].here, HostStanding::Known::added));
  }
  /// One that cannot be reached is called again.
  void call_added(std::size_t host);
  /// Whether the job is to use the host.
  void want(std::size_t host, bool wanted);
  /// For people, as HostStatus has it.
  const char* state_of(std::size_t host) const {
    return hosts_[host].standing.name(now(), options_.settings);
  }
  bool is_wanted(std::size_t host) const { return hosts_[host].standing.is_wanted(); }
  /// It is not, or its agent was told to leave: nothing is started there, and what runs there is to
  /// go elsewhere.
  bool is_draining(std::size_t host) const { return hosts_[host].standing.is_draining(); }
  /// It is draining, and has no agent any more, as far as is known.
  bool is_left(std::size_t host) const {
    const Host& one = hosts_[host];
    return is_draining(host) && !one.line && !one.call && !one.standing.awaits_former();
  }
  /// Nothing of the job is there any more, or it cannot go elsewhere: its agent leaves, with all
  /// that it has. One that is wanted is called again, much later if its agent was told to leave.
  void let_leave(std::size_t host);
  /// It is up, but nothing was heard of it for some time.
  bool is_silent(std::size_t host) const {
    return hosts_[host].standing.is_silent(now(), options_.settings);
  }
  /// It is up, and was heard a moment ago if it is another machine.
  bool can_start(std::size_t host) const {
    return hosts_[host].standing.can_start(now(), options_.settings);
  }
  /// It can, and has been heard for some time without a gap: longer, the more gaps there were. So
  /// what runs elsewhere meanwhile may go back to it.
  bool is_steady(std::size_t host) const {
    return hosts_[host].standing.is_steady(now(), options_.settings);
  }

  void start(std::size_t host, const StartProcess& what) { send(host, ToAgent(what)); }
  void end(std::size_t host, const EndProcess& what) { send(host, ToAgent(what)); }
  void ask(std::size_t host, const AskAtWork& what) { send(host, ToAgent(what)); }

  /// Somebody with the key of the job says that he is an agent.
  Result<net::Connection::Events> joined(const AgentHello& hello, Door::Line line);
  /// Looks whether remote shells have ended: where the kernel has no pidfd, after SIGCHLD.
  void reap_all();

  /// Another one has the job: agents go on, and find it.
  void let_go();
  /// The job is over: tells all agents to leave.
  void leave();
  /// None of their remote shells is there any more.
  bool all_left() const;
  void end_all();

 private:
  struct Host {
    explicit Host(HostStanding at_first) : standing(std::move(at_first)) {}

    HostStanding standing;
    std::unique_ptr<AgentCall> call;
    Door::Line line;
    /// Where it reaches the coordinator.
    std::string coordinator;
    std::uint32_t attempt = 0;
    TakenOutput output;
    CallPause pause;
    std::optional<net::Poller::Timer> timer;
  };

  Result<Done> open_doors();
  Result<Done> open_door_to(std::size_t number);
  Result<Done> call(std::size_t number);
  Result<Done> start_here(std::size_t number, std::string first_line);
  Result<Done> bring_there(std::size_t number, std::string first_line);
  net::Connection::Events welcome(std::size_t number, Door::Line line);
  bool is_here(std::size_t number) const { return hosts_[number].standing.is_here(); }
  void agent_told(std::size_t number);
  void call_ended(std::size_t number, const std::string& how);
  void line_ended(std::size_t number, const std::string& how);
  void hear(std::size_t number, const wire::Frame& frame);
  void ready(std::size_t number, const std::string& why_not);
  void lose(std::size_t number, const std::string& why);
  void has_left(std::size_t number);
  void drop_call(Host& host);
  /// After a pause that grows, and is no shorter than this.
  void call_later(std::size_t number, Time pause = Time{});
  void set_timer(Host& host, Time in, std::function<void()> what);
  void pulse();
  void send(std::size_t number, const ToAgent& message);

  net::Poller& poller_;
  const JobOptions& options_;
  const std::string token_;
  const SetupFor setup_for_;
  const Events events_;
  AgentDoors agent_doors_;
  StagedProgram staged_;
  /// They stay where they are when there are more.
  std::deque<Host> hosts_;
  std::optional<net::Poller::Timer> next_pulse_;
  Time pulsed_at_{};
  bool leaving_ = false;
};

}  // namespace piracema::cluster
