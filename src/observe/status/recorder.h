#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "control/coordinator/coordinator.h"
#include "observe/status/job_status.h"
#include "observe/status/tally.h"

namespace piracema::observe {

/// Puts together what is shown of a job while it runs: what each replica did over the last seconds,
/// and a history that is bounded however long the job takes. Not safe for two threads; times are
/// since the start of the job.
class Recorder {
 public:
  /// Rates are over about this time.
  static constexpr Time window = std::chrono::seconds(5);
  static constexpr std::size_t samples_max = 600, snapshots_max = 500, failures_max = 200;

  explicit Recorder(JobFacts facts) : facts_(std::move(facts)) {}

  /// The job is known. `job` outlives the recorder, and has the next plan when ScaleSwitched is
  /// noted.
  void plan(const cluster::Job& job);
  void joined(Time at, Slot slot, std::uint32_t incarnation, std::uint64_t pid, std::string host);
  /// Whatever a worker said.
  void heard(Time at, Slot slot, const runtime::FromWorker& message);
  void noted(Time at, const cluster::Note& note);
  /// How a host of the job is now.
  void host_is(Time at, const std::string& name, const std::string& state);

  /// What is known at `at`, which does not go back. `tally` has heard and noted the same.
  std::shared_ptr<const JobStatus> look(Time at, const cluster::Coordinator& coordinator,
                                        const cluster::Tally& tally);
  /// The last look at a job that is over.
  std::shared_ptr<const JobStatus> end(Time at, int code, const std::string& why,
                                       const cluster::JobReport& report);

 private:
  /// What a replica had done at some time.
  struct Moment {
    Time at{};
    std::uint64_t items_in = 0, items_out = 0, bytes_in = 0, bytes_out = 0;
    TimeSpent spent;
  };
  struct Watched {
    TimeSpent spent;
    /// How much of what the replica says of its time is in `spent`, and in which epoch it said so.
    Time busy_counted{}, blocked_counted{};
    std::uint32_t calls = 0;
    Epoch epoch = 0;
    std::uint64_t state_bytes = 0;
    /// As it said last, and since when it has said so.
    std::optional<Time> event_time;
    Time event_time_at{};
    std::deque<Moment> recent;
  };

  void spend(Watched& replica, const runtime::Progress& total, Epoch epoch, bool running,
             Time passed);
  WorkStatus work_of(Watched& replica, const runtime::Progress& total, Time at);
  void look_at_replicas(JobStatus& status, Time at, const cluster::Coordinator& coordinator,
                        const cluster::Tally& tally);
  void look_at_lag(JobStatus& status, Time at, const cluster::Tally& tally);
  void sample(Time at, const JobStatus& status);
  void fill_history(JobStatus& status) const;
  FailureStatus& failure();
  FailureStatus* recovering(Epoch epoch);

  void note(Time at, const cluster::Lost& lost);
  void note(Time at, const cluster::ReplicaFailed& failed);
  void note(Time at, const cluster::Recovering& recovering);
  void note(Time at, const cluster::Running& running);
  void note(Time at, const cluster::FirstItemOut& first);
  void note(Time at, const cluster::SnapshotTaken& taken);
  void note(Time at, const cluster::SnapshotAborted& aborted);
  void note(Time at, const cluster::ItemSkipped& skipped);
  /// Nothing was lost, and nothing is done again.
  void note(Time, const cluster::Reattached&) {}
  void note(Time, const cluster::ReplicaBusy&) {}
  void note(Time at, const cluster::ScaleStarted& started);
  void note(Time at, const cluster::ScaleSwitched&);
  void note(Time at, const cluster::ScaleEnded& ended);
  void note(Time, const cluster::ProcessesMoved&) {}
  void note(Time at, const cluster::SavepointBegun& begun);
  void note(Time at, const cluster::SavepointEnded& ended);
  void note(Time at, const cluster::BroadcastRouted& routed);

  JobFacts facts_;
  const cluster::Job* job_ = nullptr;
  std::vector<Watched> replicas_;
  Lag lag_;
  std::vector<WorkerStatus> workers_;
  std::vector<HostStatus> hosts_;
  Time last_look_{};
  std::optional<Time> planned_at_;

  std::deque<SnapshotStatus> snapshots_;
  std::deque<FailureStatus> failures_;
  /// Counts and histograms; the lists in it stay empty.
  JobStatus counted_;
  /// What is shown last.
  std::shared_ptr<const JobStatus> shown_;

  std::vector<SampleStatus> samples_;
  Time sample_every_ = std::chrono::seconds(1);
  Time sampled_at_{};
  std::uint64_t sampled_in_ = 0, sampled_out_ = 0;
  TimeSpent sampled_spent_;
};

}  // namespace piracema::observe
