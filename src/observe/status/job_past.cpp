#include "observe/status/job_past.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <tuple>
#include <utility>

#include "observe/status/recorder.h"
#include "wire/fields.h"

namespace piracema::observe {

namespace {

// No job is older, and a clock that is wrong by more says nothing.
constexpr double seconds_max = 1e9;

struct Histogram {
  std::vector<std::uint64_t> counts;
  double sum = 0;
  auto fields() { return std::tie(counts, sum); }
};

/// As it goes from one process to another. Whoever has told it is known by machine, process and
/// time.
struct Told {
  std::string host;
  std::uint64_t pid = 0;
  double since = 0, started_at = 0;
  std::vector<SnapshotStatus> snapshots;
  std::vector<FailureStatus> failures;
  std::vector<SampleStatus> samples;
  std::map<std::string, std::uint64_t> losses_by_cause;
  std::uint64_t snapshots_taken = 0, snapshots_failed = 0, snapshots_bytes = 0, failures_count = 0,
                recoveries = 0, items_redone = 0, items_skipped = 0, scales = 0, savepoints = 0;
  std::uint32_t processes_started = 0;
  Histogram snapshot_seconds, recovery_seconds;
  std::optional<ScaleStatus> scale;
  std::optional<SavepointStatus> savepoint;
  auto fields() {
    return std::tie(host, pid, since, started_at, snapshots, failures, samples, losses_by_cause,
                    snapshots_taken, snapshots_failed, snapshots_bytes, failures_count, recoveries,
                    items_redone, items_skipped, scales, savepoints, processes_started,
                    snapshot_seconds, recovery_seconds, scale, savepoint);
  }
};

Histogram to_wire(const SecondsHistogram& histogram) {
  return {{histogram.counts.begin(), histogram.counts.end()}, histogram.sum};
}
SecondsHistogram from_wire(const Histogram& wire) {
  SecondsHistogram histogram;
  std::copy(wire.counts.begin(), wire.counts.end(), histogram.counts.begin());
  for (const std::uint64_t count : wire.counts) histogram.count += count;
  histogram.sum = wire.sum;
  return histogram;
}

/// Each time in it that is since the start of the job.
template <class Each>
void each_time(JobStatus& status, const Each& each) {
  const auto maybe = [&](std::optional<Time>& time) {
    if (time) each(*time);
  };
  each(status.at);
  for (WorkerStatus& one : status.workers) {
    each(one.joined_at);
    each(one.heard_at);
  }
  for (HostStatus& one : status.hosts) each(one.since);
  for (BroadcastStatus& one : status.broadcasts) each(one.at);
  for (SnapshotStatus& one : status.snapshots) each(one.at);
  for (FailureStatus& one : status.failures) {
    for (LossStatus& loss : one.losses) {
      each(loss.at);
      maybe(loss.killed_at);
    }
    maybe(one.recovering_at);
    maybe(one.running_at);
    maybe(one.first_out_at);
  }
  if (status.scale) each(status.scale->asked_at);
  if (status.savepoint) each(status.savepoint->asked_at);
  for (SampleStatus& one : status.samples) each(one.at);
}

bool is_number(double value) { return std::isfinite(value) && value >= 0; }

// Bytes of another process: nothing in it may be more than a job of ours can have.
bool can_be(Told& told, JobStatus& before) {
  const Time most = std::chrono::seconds(static_cast<std::int64_t>(seconds_max));
  bool right = is_number(told.started_at) && is_number(told.since) &&
               told.snapshots.size() <= Recorder::snapshots_max &&
               told.failures.size() <= Recorder::failures_max &&
               told.samples.size() <= Recorder::samples_max &&
               told.snapshot_seconds.counts.size() == SecondsHistogram().counts.size() &&
               told.recovery_seconds.counts.size() == SecondsHistogram().counts.size() &&
               is_number(told.snapshot_seconds.sum) && is_number(told.recovery_seconds.sum);
  for (const SampleStatus& one : told.samples) {
    for (const double value : {one.in, one.out, one.busy, one.blocked}) right &= is_number(value);
  }
  each_time(before, [&](const Time& time) { right &= time >= Time{} && time <= most; });
  return right;
}

template <class T>
void put_before(const std::vector<T>& older, std::vector<T>& list, std::size_t most) {
  list.insert(list.begin(), older.begin(), older.end());
  if (list.size() > most) {
    list.erase(list.begin(), list.end() - static_cast<std::ptrdiff_t>(most));
  }
}

}  // namespace

JobPast::JobPast(const JobFacts& facts)
    : started_at_(facts.started_at), coordinator_(facts.coordinator) {}

Buffer JobPast::told(const JobStatus& status) {
  const CoordinatorFacts& by = status.facts.coordinator;
  return wire::encode(Told{.host = by.host,
                           .pid = by.pid,
                           .since = by.since,
                           .started_at = status.facts.started_at,
                           .snapshots = status.snapshots,
                           .failures = status.failures,
                           .samples = status.samples,
                           .losses_by_cause = status.losses_by_cause,
                           .snapshots_taken = status.snapshots_taken,
                           .snapshots_failed = status.snapshots_failed,
                           .snapshots_bytes = status.snapshots_bytes,
                           .failures_count = status.failures_count,
                           .recoveries = status.recoveries,
                           .items_redone = status.items_redone,
                           .items_skipped = status.items_skipped,
                           .scales = status.scales_count,
                           .savepoints = status.savepoints_count,
                           .processes_started = status.processes_started,
                           .snapshot_seconds = to_wire(status.snapshot_seconds),
                           .recovery_seconds = to_wire(status.recovery_seconds),
                           .scale = status.scale,
                           .savepoint = status.savepoint});
}

Result<Done> JobPast::take(Bytes bytes) {
  auto told = wire::decode<Told>(bytes);
  if (!told) return told.error();
  const bool is_own = std::tie(told->host, told->pid, told->since) ==
                      std::tie(coordinator_.host, coordinator_.pid, coordinator_.since);
  if (before_ || is_own) return Done{};
  auto before = std::make_shared<JobStatus>();
  before->snapshots = told->snapshots;
  before->failures = told->failures;
  before->samples = told->samples;
  before->losses_by_cause = told->losses_by_cause;
  before->snapshots_taken = told->snapshots_taken;
  before->snapshots_failed = told->snapshots_failed;
  before->snapshots_bytes = told->snapshots_bytes;
  before->failures_count = told->failures_count;
  before->recoveries = told->recoveries;
  before->items_redone = told->items_redone;
  before->items_skipped = told->items_skipped;
  before->scales_count = told->scales;
  before->savepoints_count = told->savepoints;
  before->processes_started = told->processes_started;
  before->scale = told->scale;
  before->savepoint = told->savepoint;
  if (!can_be(*told, *before)) return Error{Errc::corrupt, "the past of a job that cannot be"};
  before->snapshot_seconds = from_wire(told->snapshot_seconds);
  before->recovery_seconds = from_wire(told->recovery_seconds);
  started_at_ = told->started_at;
  before_ = std::move(before);
  return Done{};
}

std::shared_ptr<const JobStatus> JobPast::complete(const JobStatus& seen) const {
  auto status = std::make_shared<JobStatus>(seen);
  // Clocks of two machines may differ: then it began now, and not later.
  const double ran = std::clamp(coordinator_.since - started_at_, 0.0, seconds_max);
  const Time before = std::chrono::duration_cast<Time>(std::chrono::duration<double>(ran));
  each_time(*status, [before](Time& time) { time += before; });
  status->facts.started_at = started_at_;
  status->now = started_at_ + to_seconds(status->at);
  if (!before_) return status;
  const JobStatus& past = *before_;
  put_before(past.snapshots, status->snapshots, Recorder::snapshots_max);
  put_before(past.failures, status->failures, Recorder::failures_max);
  put_before(past.samples, status->samples, 2 * Recorder::samples_max);
  while (status->samples.size() >= Recorder::samples_max) halve(status->samples);
  for (const auto& [cause, count] : past.losses_by_cause) status->losses_by_cause[cause] += count;
  status->snapshots_taken += past.snapshots_taken;
  status->snapshots_failed += past.snapshots_failed;
  status->snapshots_bytes += past.snapshots_bytes;
  status->failures_count += past.failures_count;
  status->recoveries += past.recoveries;
  status->items_redone += past.items_redone;
  status->items_skipped += past.items_skipped;
  status->scales_count += past.scales_count;
  status->savepoints_count += past.savepoints_count;
  status->processes_started += past.processes_started;
  status->snapshot_seconds += past.snapshot_seconds;
  status->recovery_seconds += past.recovery_seconds;
  if (!status->scale) status->scale = past.scale;
  if (!status->savepoint) status->savepoint = past.savepoint;
  return status;
}

}  // namespace piracema::observe
