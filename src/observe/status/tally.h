#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "control/coordinator/coordinator.h"
#include "control/coordinator_job.h"
#include "control/messages/control.h"
#include "observe/status/report.h"

namespace piracema::cluster {

/// What the sources of a job that is known had emitted where its epoch began.
std::uint64_t emitted_at_restore(const Coordinator& coordinator);

/// Puts a job's report together from what its coordinator hears and says.
class Tally {
 public:
  JobReport report;

  /// The job is known; nothing below is called before. `job` outlives it, and has the next plan
  /// when ScaleSwitched is noted.
  void plan(const Job& job);

  /// Takes what a process reports of the replicas that it hosts. `at_restore` is what the sources
  /// had emitted where this epoch began.
  void heard(Slot slot, const runtime::Heartbeat& heartbeat, std::uint64_t at_restore);

  /// All that a replica has done, in this epoch and in former ones, as of the last heartbeats; what
  /// is no count is of now.
  runtime::Progress total(ReplicaId replica) const;

  /// What a replica has done in the newest epoch that anybody has spoken of; all zeros if it has
  /// not.
  runtime::Progress of_this_epoch(ReplicaId replica) const;
  Epoch newest_epoch() const { return newest_; }

  /// `when` is since the start of the job.
  void noted(Time when, const Note& note);

 private:
  /// Of a replica: what it did in former epochs, and in this one.
  struct Counts {
    Epoch epoch = 0;
    runtime::Progress before, latest;
  };

  void sum_up(std::uint64_t at_restore);
  void plan_again();
  void note(Time when, const Lost&);
  void note(Time when, const ReplicaFailed&);
  void note(Time when, const Recovering&);
  void note(Time when, const Running&);
  void note(Time when, const FirstItemOut&);
  void note(Time when, const SnapshotTaken&);
  void note(Time when, const SnapshotAborted&);
  void note(Time, const ItemSkipped&) {}
  void note(Time, const ReplicaBusy&) {}
  void note(Time, const Reattached&) {}
  void note(Time, const ScaleStarted&) {}
  void note(Time, const ScaleSwitched&) { plan_again(); }
  void note(Time when, const ScaleEnded&);
  void note(Time, const ProcessesMoved&) {}
  void note(Time, const SavepointBegun&) {}
  void note(Time, const SavepointEnded&) {}
  void note(Time, const BroadcastRouted&) {}
  void cause(Time when, std::string what);
  RecoveryReport* recovery(Epoch epoch);

  const Job* job_ = nullptr;
  std::vector<Counts> replicas_;
  /// Of the nodes: what replicas of former plans did.
  std::vector<runtime::Progress> former_;
  /// Of each replica, by the plan that the numbers above are of.
  std::vector<std::uint32_t> node_of_;
  Epoch newest_ = 0;
  /// What has happened since the last recovery began.
  std::vector<std::string> causes_;
  Time first_cause_{};
};

}  // namespace piracema::cluster
