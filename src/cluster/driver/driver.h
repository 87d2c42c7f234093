#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cluster/driver/from.h"
#include "control/coordinator_job.h"
#include "control/coordinator_settings.h"
#include "host/host_names.h"
#include "observe/status/board.h"
#include "observe/status/report.h"

namespace piracema::cluster {

struct Leading;

/// A job of several processes, on this machine or on several.
struct JobOptions {
  /// The program, as `find_program` gives it, and its arguments.
  std::vector<std::string> command;
  /// A program that begins with `run_agent` (host/agent.h) where its first word is "agent": this
  /// one, which is `piracema`, or another.
  std::string agent = "/proc/self/exe";
  /// mpirun and its own options, where the transport is "mpi".
  std::vector<std::string> mpirun = {"mpirun"};
  /// For each slot: variables that its processes get beside those of all.
  std::vector<std::vector<std::string>> environments;
  /// Hosts of the job; none: all of it runs here.
  std::vector<HostOptions> hosts;
  /// For each slot its host, as long as that can be reached; else it is started on another one.
  std::vector<std::size_t> host_of_slot;
  /// The file of the hosts, if it is looked at while the job runs: what it names no more is left,
  /// and what is new is used. Empty: they stay as they are. Wants snapshots.
  std::string watched_hostfile;
  /// Numeric address of this machine where processes on other hosts come, beside loopback; empty:
  /// none do, or agents bring them. What mpirun starts on other hosts comes by itself.
  std::string listen;
  /// The remote shell and its options; the host and a command follow.
  std::vector<std::string> rsh = {"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5"};
  /// `snapshots`, `resume`, `found` and `dead_letters` follow from the fields below.
  JobSettings settings;
  /// As `store::open_store` has it; empty: none are taken.
  std::string snapshots;
  /// How processes talk to each other: on this host "auto", "tcp" or "shm"; "mpi": one mpirun
  /// starts them all, and again when it has ended without being done.
  std::string transport = "auto";
  /// The network between the hosts is trusted: what goes over it is not sealed.
  bool plain = false;
  /// As in RunOptions; 0: what the program wants.
  std::uint32_t threads = 0;
  std::uint64_t cycle_bytes = 0;
  std::string state_directory;
  std::uint64_t state_memory = 0;
  /// Go on from the newest snapshot in it, or with the workers of a coordinator that was lost.
  bool resume = false;
  /// With `resume`: what to go on from.
  From from;
  /// Wait until the coordinator of the job whose snapshots these are is gone, and go on with it.
  bool standby = false;
  /// How long workers go on without a coordinator, until another one takes the job over; 0: they
  /// end with it. Of a job that is taken over at least what it was.
  std::chrono::milliseconds keep_workers{0};
  /// Of one of several coordinators, which leads the others (leading.h); null: it is alone. It
  /// outlives the call. Wants `keep_workers`.
  Leading* leading = nullptr;
  /// With `resume`: how the program may differ from what the snapshot is of.
  MayDiffer may_differ;
  /// With `resume`: operators have as many replicas as when the job was stopped, which may have
  /// been scaled; else as many as the program says.
  bool keep_replicas = false;
  /// As in RunOptions.
  bool strict = false;
  /// File for items that use up the restart budget; empty: they end the job.
  std::string dead_letters;
  std::vector<KillOrder> kills;
  /// Leaves a process that should be ended alone until the job is over: what happens when the
  /// machine that it is on does not answer. For tests of what keeps it out of the job.
  bool cannot_end_processes = false;
  /// What workers write to standard output goes to standard error.
  bool output_to_error = false;
  /// Workers of this host get this process's standard input; else theirs is empty.
  bool hand_on_input = false;
  /// Where what is known of the job is shown while it runs, and by which it may be stopped; null:
  /// nobody looks. It outlives the job.
  observe::Board* board = nullptr;
};

/// Looks on. Called on the thread of `run_job`; must not block. Times are since the start.
class JobObserver {
 public:
  virtual ~JobObserver() = default;
  /// Another process has the job; this one waits until that is lost.
  virtual void standing_by(const std::string& /*why*/) {}
  /// Of several coordinators this one leads from now on; `taken_over`: after another one.
  virtual void leads(std::uint32_t /*number*/, std::uint32_t /*of*/, bool /*taken_over*/) {}
  /// It leads no longer, and looks on.
  virtual void follows(std::uint32_t /*number*/, std::uint32_t /*of*/) {}
  /// The first process has joined: this is what will run.
  virtual void planned(const Job&, const JobReport&) {}
  virtual void noted(Time, const Note&) {}
  /// A process was killed on order.
  virtual void killed(Time, const KillReport&, const std::string& /*replica*/) {}
  /// Several times a second; the report is as old as the last heartbeats.
  virtual void progressed(Time, const JobReport&) {}
  /// The user wants to stop.
  virtual void stopping(Time) {}
};

/// Runs a job to its end: starts the processes, does what the coordinator says, tells it what
/// happens. SIGINT and SIGTERM end the job in order (a last snapshot, code 75), a second one at
/// once (130 or 143). All processes have ended when it returns. Once at a time in a process.
///
/// The report's code is that of the command; `why` has not been said yet.
JobReport run_job(const JobOptions& options, JobObserver& observer);

/// What processes that somebody else starts are to be told.
struct Doorway {
  std::string address, token;
  /// What workers on other hosts have to see (DirectoryMark); empty: nothing.
  std::string mark;
};

/// As `run_job`, for processes that come by themselves (`settings.workers_come`). `at_door` is
/// called once they may come.
JobReport run_job(const JobOptions& options, JobObserver& observer,
                  const std::function<void(const Doorway&)>& at_door);

}  // namespace piracema::cluster
