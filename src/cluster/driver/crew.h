#pragma once

#include <piracema/error.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "control/coordinator_events.h"
#include "control/messages/control.h"
#include "host/agent_messages.h"
#include "host/at_work.h"
#include "loop/poller.h"
#include "net/socket/connection.h"
#include "os/process.h"

namespace piracema::cluster {

/// Who hears nothing of a coordinator that is one of several for so long looks for the others.
constexpr std::chrono::milliseconds others_after{1'000};

/// The processes of a job, here and on other hosts, with their connections. Tells how each of them
/// ends. Belongs to the poller's thread.
class Crew {
 public:
  /// Which process: its slot, and how many had the slot before.
  using Id = std::pair<Slot, std::uint32_t>;

  struct Events {
    /// The process is gone for certain, and all that it sent was received.
    std::function<void(const Exited&, const Exit&)> exited;
    /// The connection ended but the process did not.
    std::function<void(Id)> connection_lost;
    /// A process on another host is to be killed. May be empty: there are none.
    std::function<void(std::size_t host, Id)> kill_remote;
  };

  Crew(net::Poller& poller, Events events) : poller_(poller), events_(std::move(events)) {}
  ~Crew();

  /// Starts a process, once. `launch` gets the variables and descriptors that tell it who it is.
  Result<Done> start(Id id, Launch launch);
  /// Starts one process, mpirun, that starts all of these; they end together.
  Result<Done> start_world(const std::vector<Id>& ids, Launch launch);
  /// One that an agent on another host starts.
  void start_remote(Id id, std::size_t host);
  /// What that agent says of it: it has ended, and was at work on these items; or it was never
  /// started (`Exit::how` says why).
  void ended_remotely(Id id, const Exit& exit,
                      std::vector<std::pair<ReplicaId, std::uint64_t>> at_work);
  /// Those on that host that have not joined are told as ended, and expected no longer.
  void give_up_starters(std::size_t host, const std::string& why);
  /// Nothing more will be heard of the host. Processes there may live.
  void host_lost(std::size_t host, const std::string& why);
  /// Which of those on that host are held up or stopped, as its agent has just said.
  void conditions(std::size_t host, const std::vector<Condition>& now);
  std::size_t count_on(std::size_t host) const;
  /// One that somebody else starts, or the coordinator before has started.
  void expect(Id id);
  /// An agent has kept it running. False if it is not expected.
  bool found(Id id, std::size_t host);
  /// Those that are expected and that neither an agent nor a connection has told of.
  std::vector<Id> missing() const;
  /// SIGKILL. Does nothing if it is gone. One of a world takes the others with it.
  void kill(Id id);
  /// Lets those go that somebody else started.
  void let_go();
  void kill_all();
  /// Dropped when it has no connection.
  void send(Id id, const runtime::ToWorker& message);

  /// Tells all that are connected that their coordinator is there.
  void show_life();

  /// It has said something.
  void heard(Id id, Time when);
  /// Those that have been silent for at least `silent`, but for less than three times as long,
  /// because the machine lets them wait.
  std::vector<Id> held_up(Time now, Time silent) const;

  /// SIGKILL for those that are stopped and have not joined although they were started `silent`
  /// ago or more: they would not beat, and so would not be missed.
  void kill_stopped_starters(Time now, Time silent);

  /// Waits for this process to join.
  bool expects(Id id) const;
  void join(Id id, std::shared_ptr<net::Connection> line);
  /// Call when its connection has ended.
  void line_lost(Id id);

  /// Looks whether processes have ended: where the kernel has no pidfd, after SIGCHLD.
  void reap_all();

  /// The process that has the slot now, if it lives.
  std::optional<Id> newest(Slot slot) const;
  /// Where an agent has started it; none: here, or nobody knows it.
  std::optional<std::size_t> host_of(Id id) const {
    const auto found = members_.find(id);
    return found == members_.end() ? std::nullopt : found->second.host;
  }
  std::size_t size() const { return members_.size(); }

 private:
  struct Member {
    /// Null for one that somebody else started; of several that end together, the same one.
    std::shared_ptr<Process> process;
    std::optional<AtWork> at_work;
    /// Where an agent has started it.
    std::optional<std::size_t> host;
    std::vector<std::pair<ReplicaId, std::uint64_t>> was_at_work;
    Condition condition;
    bool in_world = false;
    std::shared_ptr<net::Connection> line;
    bool joined = false;
    /// First when it was started.
    Time heard_at{};
    bool line_lost = false;
    bool loss_told = false;
    std::optional<Exit> exit;
    std::optional<net::Poller::Timer> timer;
  };

  void watch(const std::shared_ptr<Process>& process);
  void reap(const std::shared_ptr<Process>& process);
  void kill_world(const std::shared_ptr<Process>& process);
  void settle(Id id);
  void time_is_up(Id id);
  void tell_exit(Id id);
  bool is_ours(const Member& member) const { return member.process || member.host; }
  bool is_held_up(const Member& member) const;
  bool is_stopped(const Member& member) const;
  void kill(Id id, const Member& member);

  net::Poller& poller_;
  Events events_;
  std::map<Id, Member> members_;
};

}  // namespace piracema::cluster
