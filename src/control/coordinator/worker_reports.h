#pragma once

#include "base/clock.h"
#include "control/broadcasts/broadcasts.h"
#include "control/coordinator/epoch/epoch_progress.h"
#include "control/coordinator/epoch/phase.h"
#include "control/coordinator/failures.h"
#include "control/coordinator/job_ending.h"
#include "control/coordinator/members/journal.h"
#include "control/coordinator/members/members.h"
#include "control/coordinator/plan/planned_job.h"
#include "control/coordinator/plan/rescaling.h"
#include "control/coordinator/snapshots/snapshot_coordinator.h"
#include "control/detector/failure_detector.h"

namespace piracema::cluster {

/// What workers say of the epoch: to each part of the coordinator what is for it, and how far each
/// replica has come. What the job does then is for the coordinator, at once.
class WorkerReports {
 public:
  WorkerReports(Journal& journal, Members& members, FailureDetector& detector,
                const PlannedJob& job, SnapshotCoordinator& snapshots, JobEnding& ending,
                Rescaling& rescaling, Failures& failures, Broadcasts& broadcasts)
      : journal_(journal),
        members_(members),
        detector_(detector),
        job_(job),
        snapshots_(snapshots),
        ending_(ending),
        rescaling_(rescaling),
        failures_(failures),
        broadcasts_(broadcasts) {}

  /// All replicas of the job begin.
  void begin_epoch() { progress_.begin(*job_); }
  /// All of them are ready.
  void all_run() {
    if (progress_.item_is_out()) epoch_is_fruitful();
  }
  /// The job goes on with other replicas.
  void change_plan() { progress_.clear(); }

  /// The slot's process, which has joined, says it while there is an epoch. What is of another
  /// epoch, or of a replica that it does not have, does not count.
  [[nodiscard]] Consequence hear(Slot slot, const runtime::FromWorker& message, Phase phase,
                                 Time now);

  const EpochProgress& progress() const { return progress_; }

 private:
  struct Context {
    Slot slot;
    Phase phase;
    Time now;
  };
  // Known already, or said to somebody else.
  Consequence on(const runtime::Hello&, const Context&) { return {}; }
  Consequence on(const runtime::Attached&, const Context&) { return {}; }
  Consequence on(const runtime::Ready&, const Context&);
  Consequence on(const runtime::Saved&, const Context&);
  Consequence on(const runtime::SaveFailed&, const Context&);
  Consequence on(const runtime::Ended&, const Context&);
  Consequence on(const runtime::OperatorFailed&, const Context&);
  Consequence on(const runtime::Committed&, const Context&);
  Consequence on(const runtime::FirstOutput&, const Context&);
  Consequence on(const runtime::HasReadAhead&, const Context&);
  Consequence on(const runtime::LinksSeen&, const Context&);
  Consequence on(const runtime::Restoring&, const Context&);
  Consequence on(const runtime::Heartbeat&, const Context&);

  void epoch_is_fruitful();

  Journal& journal_;
  Members& members_;
  FailureDetector& detector_;
  const PlannedJob& job_;
  SnapshotCoordinator& snapshots_;
  JobEnding& ending_;
  Rescaling& rescaling_;
  Failures& failures_;
  Broadcasts& broadcasts_;
  EpochProgress progress_;
};

}  // namespace piracema::cluster
