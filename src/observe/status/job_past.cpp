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

/// As it goes from one process to another. Whoever has told it is known by machine, process and
/// time.
struct Told {
  std::string host;
  std::uint64_t pid = 0;
  double since = 0, started_at = 0;
  JobHistory history;
  auto fields() { return std::tie(host, pid, since, started_at, history); }
};

template <class Each>
void each_time(JobHistory& history, const Each& each) {
  const auto maybe = [&](std::optional<Time>& time) {
    if (time) each(*time);
  };
  for (SnapshotStatus& one : history.snapshots) each(one.at);
  for (FailureStatus& one : history.failures) {
    for (LossStatus& loss : one.losses) {
      each(loss.at);
      maybe(loss.killed_at);
    }
    maybe(one.recovering_at);
    maybe(one.running_at);
    maybe(one.first_out_at);
  }
  if (history.scale) each(history.scale->asked_at);
  if (history.savepoint) each(history.savepoint->asked_at);
  for (SampleStatus& one : history.samples) each(one.at);
}
template <class Each>
void each_time(JobStatus& status, const Each& each) {
  each_time(static_cast<JobHistory&>(status), each);
  each(status.at);
  for (WorkerStatus& one : status.workers) {
    each(one.joined_at);
    each(one.heard_at);
  }
  for (HostStatus& one : status.hosts) each(one.since);
  for (BroadcastStatus& one : status.broadcasts) each(one.at);
}

bool is_number(double value) { return std::isfinite(value) && value >= 0; }

bool can_be(const SecondsHistogram& histogram) {
  std::uint64_t count = 0;
  for (const std::uint64_t one : histogram.counts) count += one;
  return count == histogram.count && is_number(histogram.sum);
}

// Bytes of another process: nothing in it may be more than a job of ours can have.
bool can_be(Told& told) {
  JobHistory& history = told.history;
  const Time most = std::chrono::seconds(static_cast<std::int64_t>(seconds_max));
  bool right = is_number(told.started_at) && is_number(told.since) &&
               history.snapshots.size() <= Recorder::snapshots_max &&
               history.failures.size() <= Recorder::failures_max &&
               history.samples.size() <= Recorder::samples_max &&
               can_be(history.snapshot_seconds) && can_be(history.recovery_seconds);
  for (const SampleStatus& one : history.samples) {
    for (const double value : {one.in, one.out, one.busy, one.blocked}) right &= is_number(value);
  }
  each_time(history, [&](const Time& time) { right &= time >= Time{} && time <= most; });
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

JobPast::JobPast(const JobFacts& facts, double counts_from)
    : started_at_(facts.started_at), counts_from_(counts_from), coordinator_(facts.coordinator) {}

Buffer JobPast::told(const JobStatus& status) {
  const CoordinatorFacts& by = status.facts.coordinator;
  return wire::encode(Told{by.host, by.pid, by.since, status.facts.started_at, status});
}

Result<Done> JobPast::take(Bytes bytes) {
  auto told = wire::decode<Told>(bytes);
  if (!told) return told.error();
  const bool is_own = std::tie(told->host, told->pid, told->since) ==
                      std::tie(coordinator_.host, coordinator_.pid, coordinator_.since);
  if (before_ || is_own) return Done{};
  if (!can_be(*told)) return Error{Errc::corrupt, "the past of a job that cannot be"};
  started_at_ = told->started_at;
  before_ = std::move(told->history);
  return Done{};
}

std::shared_ptr<const JobStatus> JobPast::complete(const JobStatus& seen) const {
  auto status = std::make_shared<JobStatus>(seen);
  // Clocks of two machines may differ: then it began now, and not later.
  const double ran = std::clamp(counts_from_ - started_at_, 0.0, seconds_max);
  const Time before = std::chrono::duration_cast<Time>(std::chrono::duration<double>(ran));
  each_time(*status, [before](Time& time) { time += before; });
  status->facts.started_at = started_at_;
  status->now = started_at_ + to_seconds(status->at);
  if (!before_) return status;
  const JobHistory& past = *before_;
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
