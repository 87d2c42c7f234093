#pragma once

#include <piracema/error.h>
#include <sys/types.h>

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
#include "loop/poller.h"
#include "net/socket/connection.h"
#include "os/process.h"

namespace piracema::cluster {

/// Who hears nothing of a coordinator that is one of several for so long looks for the others.
constexpr std::chrono::milliseconds others_after{1'000};

/// The processes of a job, with their connections. Agents start and watch them; those of a world
/// are started by one process, mpirun, that is ours. Tells how each of them ends. Belongs to the
/// poller's thread.
class Crew {
 public:
  /// Which process: its slot, and how many had the slot before.
  using Id = std::pair<Slot, std::uint32_t>;
  /// The items that replicas are at.
  using Items = std::vector<std::pair<ReplicaId, std::uint64_t>>;

  struct Events {
    /// The process is gone for certain, and all that it sent was received.
    std::function<void(const Exited&, const Exit&)> exited;
    /// The connection ended but the process did not.
    std::function<void(Id)> connection_lost;
    /// The agent of that host is to kill a process. May be empty: there are none.
    std::function<void(std::size_t host, Id)> kill;
    /// It is to say what a process is at, by `is_at`. May be empty, as above.
    std::function<void(std::size_t host, Id)> ask;
    /// Whether that host is this machine. May be empty, as above.
    std::function<bool(std::size_t host)> is_here;
  };

  Crew(net::Poller& poller, Events events) : poller_(poller), events_(std::move(events)) {}
  ~Crew();

  /// Starts one process, mpirun, that starts all of these; they end together.
  Result<Done> start_world(const std::vector<Id>& ids, Launch launch);
  /// One that the agent of that host starts, once: the coordinator numbers the incarnations of a
  /// slot. False if it is there already.
  bool start(Id id, std::size_t host);
  /// What that agent says of it: it has ended, and was at work on these items; or it was never
  /// started (`Exit::how` says why).
  void ended(Id id, const Exit& exit, Items at_work);
  /// It lives, and is at these items although its connection has ended: if it is lost by that they
  /// may be why.
  void is_at(Id id, Items items);
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

  /// Tells all that are connected that their coordinator is there, one of these.
  void show_life(const std::vector<std::string>& coordinators);

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
  /// `pid` is its number on its machine.
  void join(Id id, std::shared_ptr<net::Connection> line, pid_t pid);
  /// Call when its connection has ended.
  void line_lost(Id id);

  /// Looks whether processes have ended: where the kernel has no pidfd, after SIGCHLD.
  void reap_all();

  /// The process that has the slot now, if it lives.
  std::optional<Id> newest(Slot slot) const;
  /// Where an agent has started it; none: it came by itself, or nobody knows it.
  std::optional<std::size_t> host_of(Id id) const {
    const auto found = members_.find(id);
    return found == members_.end() ? std::nullopt : found->second.host;
  }
  std::size_t size() const { return members_.size(); }

 private:
  struct Member {
    /// Of a world, the same one for all of it.
    std::shared_ptr<Process> mpirun;
    /// Where an agent has started it.
    std::optional<std::size_t> host;
    std::optional<Items> was_at_work;
    /// As its agent has just said.
    Condition condition;
    std::shared_ptr<net::Connection> line;
    bool joined = false;
    pid_t pid = 0;
    /// First when it was started.
    Time heard_at{};
    bool line_lost = false;
    bool loss_told = false;
    std::optional<Exit> exit;
    std::optional<net::Poller::Timer> timer;
  };

  void reap(const std::shared_ptr<Process>& mpirun);
  void kill_world(const std::shared_ptr<Process>& mpirun);
  void settle(Id id);
  void time_is_up(Id id);
  void tell_exit(Id id);
  bool is_ours(const Member& member) const { return member.mpirun || member.host; }
  bool is_here(const Member& member) const {
    return member.joined && member.host && events_.is_here(*member.host);
  }
  bool is_held_up(const Member& member) const;
  bool is_ending(const Member& member) const;
  void kill(Id id, const Member& member);

  net::Poller& poller_;
  Events events_;
  std::map<Id, Member> members_;
};

}  // namespace piracema::cluster
