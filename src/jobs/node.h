#pragma once

#include <piracema/error.h>
#include <piracema/smr/client.h>
#include <piracema/smr/configuration.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "forecast/leaving/job_leaving.h"
#include "forecast/window/lent_machine.h"
#include "jobs/local/job_environment.h"
#include "jobs/local/job_files.h"
#include "jobs/local/job_runner.h"
#include "jobs/local/part_door.h"
#include "jobs/local/supervised.h"
#include "jobs/streams/stream_reporter.h"
#include "loop/poller.h"
#include "os/process.h"
#include "os/signal_watch.h"

namespace piracema::jobs {

/// One node of a cluster, in this process: what JobRunner wants is done, and the replica of the
/// control plane that belongs here runs beside it, in a process of its own. One thread.
class NodeProcess {
 public:
  struct Options {
    std::string name;
    std::uint32_t slots = 1;
    /// Where the other nodes reach this one; empty: nowhere.
    std::string address;
    /// What its machine is like, and where it is (jobs::Node::kind, jobs::Node::site).
    std::string kind, site;
    /// For what jobs leave behind and what the replica keeps; for this node alone.
    std::string directory;
    smr::Configuration configuration;
    /// The node's number as a client of the group.
    std::uint64_t client = 0;
    std::string key_file;
    /// Words that start the replica of this node; none: it has none.
    std::vector<std::string> replica;
    /// Words that lead to `run_supervisor`.
    std::vector<std::string> supervisor;
    /// A remote shell for jobs of several nodes, which asks this process.
    std::string rsh;
    /// When this machine is lent; there for good if nothing is said.
    ckpt::LentMachine::Settings lent = {};
    /// How often a window may close before a job has left it well.
    double risk = 0.01;
    /// How much jobs give way to other programs of this machine, 0 to 19.
    int niceness = 0;
  };

  /// Errc::refused if another process has the directory; Errc::config, Errc::io.
  static Result<std::unique_ptr<NodeProcess>> open(Options options);
  ~NodeProcess();

  /// Until SIGTERM or SIGINT, after which its jobs have time to leave; a second one ends them.
  Result<Done> run();

 private:
  struct Running {
    Supervised job;
    JobLog log;
    /// Of what follows the job's nodes: the file that names them, and the job's places on each.
    std::string hostfile;
    std::uint32_t slots = 1;
    /// As whom it runs.
    uid_t user = 0;
    /// What it writes is for those who look at the job. Of parts: of a job that outlives its first
    /// node, which is told of it as long as it is there.
    bool tells = false;
  };

  explicit NodeProcess(Options options, Fd lock);
  Result<Done> start();
  Result<Done> open_part_door();
  Result<Done> start_replica();
  void replica_ended();
  void lent_seen(const ckpt::LentMachine::Seen& seen);
  void look_for_room();
  /// The supervisors of what runs here.
  std::vector<pid_t> supervisors() const;
  void step(const JobRunner::Event& event);
  void wake_in_time();
  void act(const JobRunner::Ask&);
  void act(const JobRunner::Await&);
  void act(const JobRunner::Launch&);
  void act(const JobRunner::HostsChanged&);
  void act(const JobRunner::PartOver&);
  void act(const JobRunner::Leaves&);
  void act(const JobRunner::Suspend&);
  void act(const JobRunner::Resume&);
  void act(const JobRunner::Terminate&);
  void act(const JobRunner::Extend&);
  void act(const JobRunner::Tell&);
  void act(const JobRunner::Finish&);
  void do_all(const std::vector<JobRunner::Action>& actions);
  /// The error is one of the job's.
  Result<Running> start_job(const JobRunner::Launch& launch);
  void tell_last_words(Ended& ended, const Running& running) const;
  Result<Done> tell_mpi(const JobRunner::Launch& launch) const;
  void part_asked(std::uint32_t number, uid_t user, PartRequest request);
  /// It runs jobs as any account.
  bool is_for_others() const;
  void tell_logs();
  void over(Ended ended);

  const Options options_;
  const JobFiles files_;
  const JobEnvironment environment_;
  /// Drawn at random, not 0.
  const std::uint64_t incarnation_;
  const Fd lock_;
  net::Poller poller_;
  std::unique_ptr<ckpt::SignalWatch> signals_;
  JobRunner runner_;
  std::map<Attempt, Running> running_;
  ckpt::JobLeaving leaving_;
  std::optional<ckpt::LentMachine> lent_;
  std::unique_ptr<PartDoor> parts_;
  std::unique_ptr<StreamReporter> streams_;
  /// By their numbers at the door.
  std::map<std::uint32_t, Attempt> asked_parts_;
  Time until_{};
  std::optional<net::Poller::Timer> timer_;
  std::optional<cluster::Process> replica_;
  Time replica_since_{};
  std::optional<Error> failed_;
  bool finished_ = false;
  /// Last, so that it goes first: its thread posts to the poller.
  std::unique_ptr<smr::Client> client_;
};

}  // namespace piracema::jobs
