#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "control/broadcasts/broadcasts.h"
#include "control/coordinator/epoch/epoch_change.h"
#include "control/coordinator/epoch/phase.h"
#include "control/coordinator/failures.h"
#include "control/coordinator/job_ending.h"
#include "control/coordinator/members/journal.h"
#include "control/coordinator/members/members.h"
#include "control/coordinator/plan/planned_job.h"
#include "control/coordinator/plan/rescaling.h"
#include "control/coordinator/snapshots/moves.h"
#include "control/coordinator/snapshots/savepoint_taking.h"
#include "control/coordinator/snapshots/snapshot_coordinator.h"
#include "control/coordinator/snapshots/snapshot_schedule.h"
#include "control/coordinator/worker_reports.h"
#include "control/coordinator_actions.h"
#include "control/coordinator_events.h"
#include "control/coordinator_job.h"
#include "control/coordinator_settings.h"
#include "control/detector/failure_detector.h"
#include "control/job_metadata.h"

namespace piracema::cluster {

/// Runs one job: starts its processes, takes its snapshots, rolls all of it back when a part of
/// it is lost (paper 000, section 4.1: the monitor), ends it.
///
/// A pure state machine: it is told what happened and answers what to do. Time comes in and never
/// goes back; there is no thread, clock, socket or random number inside, so the simulator runs the
/// same code. Not safe for two threads.
///
/// One epoch fences everything: each Deploy raises it, and what workers say of an older one, or
/// while there is none, does not count. So a process that was taken for dead may well live.
///
/// What is true of the job is its metadata, which decisions alone change; another coordinator that
/// is made of it goes on with the job. A term fences the coordinators that a job has had.
class Coordinator {
 public:
  /// Of a job that begins. The settings are valid. Begin with a Tick.
  explicit Coordinator(JobSettings settings);
  /// Takes a job over. Its workers are found again if they come within `attach_timeout`; if all of
  /// them do, nothing is rolled back. Begin with a Tick.
  explicit Coordinator(JobMetadata metadata);
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  std::vector<Action> step(Time now, const Event& event);

  /// When to call with a Tick at the latest. Without anything else that happens this is the
  /// earliest time at which there is something to do.
  std::optional<Time> next_deadline() const;

  const JobMetadata& metadata() const { return journal_.metadata(); }
  /// Goes on with the metadata of a log, which are its own (tests hold it to that).
  void reload(JobMetadata metadata);

  // ---- for people; all of it as old as the last heartbeats ----------------------------------

  Phase phase() const { return phase_; }
  Epoch epoch() const { return metadata().epoch; }
  /// Nothing until the first process has joined.
  const std::optional<Job>& job() const { return job_.get(); }
  /// What each replica has done since the last Deploy.
  const std::vector<runtime::Progress>& progress() const { return reports_.progress().replicas(); }
  /// Items that the sources have emitted since the job began or was resumed, redone ones once.
  std::uint64_t items_emitted() const {
    return metadata().emitted_at_deploy + reports_.progress().emitted();
  }

 private:
  // ---- events -------------------------------------------------------------------------------
  void on(const Joined&);
  void on(const Said&);
  void on(const Exited&);
  void on(const ConnectionLost&);
  void on(const SnapshotCommitted&);
  void on(const SnapshotCommitFailed&);
  void on(const SnapshotFound&);
  void on(const SnapshotGone&);
  void on(const StopRequested&);
  void on(const UserAsked&);
  void on(const SnapshotNamed&);
  void on(const SnapshotNotNamed&);
  void on(const MovesWished&);
  void on(const HostsListed&);
  void on(const Tick&);

  // ---- from phase to phase ------------------------------------------------------------------
  void begin();
  void gather();
  void attach(Slot, const runtime::Attached&);
  void begin_epoch();
  void start_when_ready();
  void go_on();
  /// Whether anything did.
  bool follow(const Consequence&);
  void roll_back(const std::string& why);
  void give_up_round(const std::string& why);
  void change_plan(SnapshotId);
  void route_broadcasts();
  void move_processes(SnapshotId);
  void leave_stopped();
  void fail(Finish);

  Journal journal_;
  const JobSettings& settings_;
  Members members_;
  FailureDetector detector_;
  SnapshotCoordinator snapshots_;
  JobEnding ending_;
  Rescaling rescaling_;
  PlannedJob job_;
  Failures failures_;
  EpochChange change_;

  // ---- what was seen, and need not be known to take the job over -----------------------------
  bool begun_ = false;
  Time now_{};
  Phase phase_ = Phase::gathering;
  Broadcasts broadcasts_;
  WorkerReports reports_;
  Time stop_by_{};
  Moves moves_;
  SavepointTaking savepoint_;
  SnapshotSchedule schedule_;
};

}  // namespace piracema::cluster
