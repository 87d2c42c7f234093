#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/driver/agent_setup.h"
#include "cluster/driver/crew.h"
#include "cluster/driver/followed_hosts.h"
#include "cluster/driver/hosts.h"
#include "cluster/driver/places.h"

namespace piracema::cluster {

/// The hosts that a job is on, with what runs on them: agents are called, processes are started
/// where there is a place, what agents say of them is passed on, and hosts are left. Belongs to the
/// poller's thread.
class JobHosts {
 public:
  struct Events {
    /// The job cannot begin, or not go on.
    std::function<void(const Error&)> failed;
    std::function<void(int code, std::string why)> over;
    /// An agent was told to start one more process.
    std::function<void()> started;
    /// Whoever had the job before has lost that process.
    std::function<void(Crew::Id, std::string why)> never_ran;
    /// These processes are to go to other hosts with the next snapshot; of some the host drains.
    std::function<void(std::vector<Slot>, bool drains)> moves_wished;
    /// As FollowedHosts has it.
    std::function<bool(HostsOfJob)> hosts_change;
    /// Whether a process of the job has ever joined.
    std::function<bool()> anybody_joined;
    std::function<bool()> still_coordinates;
    std::function<Time()> time;
  };

  /// All outlive this. `options` gets the hosts that come while the job runs.
  JobHosts(net::Poller& poller, JobOptions& options, Crew& crew, Door& door,
           const std::string& token, AgentSetup setup, Events events);

  /// As Hosts has it.
  Result<Done> call_all() { return hosts_.call_all(); }
  /// Of a job that is taken over, whose coordinator before has left these hosts. As Hosts has it.
  Result<Done> wait_for_all(Time until, std::uint64_t term, const HostsOfJob& left);
  bool all_up() const { return hosts_.all_up(); }
  Result<net::Connection::Events> joined(const AgentHello& hello, Door::Line line) {
    return hosts_.joined(hello, std::move(line));
  }
  const char* state_of(std::size_t host) const { return hosts_.state_of(host); }
  void reap_all() { hosts_.reap_all(); }

  /// Starts it, or lets it wait.
  void start(Crew::Id id);
  /// False if it does not wait.
  bool waits_no_more(Crew::Id id) { return places_.waits_no_more(id); }
  /// What is to be done with a process by the agent of its host.
  void end(std::size_t host, Crew::Id id) { hosts_.end(host, EndProcess{id.first, id.second}); }
  void ask(std::size_t host, Crew::Id id) { hosts_.ask(host, AskAtWork{id.first, id.second}); }

  /// The job may have more slots than when it began.
  void give_hosts();
  /// Call a few times a second.
  void look();

  /// Another one has the job: agents go on, and find it.
  void let_go() { hosts_.let_go(); }
  /// The job is over: no more hosts come or go.
  void stop_following();
  /// Ends agents, and what they have; waits for them for some seconds.
  void leave();

 private:
  void up();
  void heard_from(std::size_t host, const FromAgent& message);
  void came_back(std::size_t host, const std::vector<RunningProcess>& running);
  void give_up_missing();
  void move_displaced();
  void leave_drained();

  net::Poller& poller_;
  const JobOptions& options_;
  Crew& crew_;
  const AgentSetup setup_;
  const Events events_;
  Hosts hosts_;
  Places places_;
  /// Only where the hosts of the job may change.
  std::unique_ptr<FollowedHosts> followed_;
  /// Processes that are to go to other hosts.
  std::vector<Slot> displaced_;
  /// Which workers are left of a job that is taken over is not known yet.
  bool takes_over_ = false;
};

}  // namespace piracema::cluster
