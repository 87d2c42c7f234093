#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <memory>
#include <optional>

#include "observe/status/job_status.h"

namespace piracema::observe {

/// What happened to a job before the coordinator that has it now, so that its page goes on where
/// that of the one before has ended: failures, snapshots, figures over time, and counts. None of it
/// is true of the job; nobody decides by it. What each replica has done is not in it, and is
/// counted anew. Belongs to one thread.
class JobPast {
 public:
  /// What the next coordinator is to take. `status` is as `complete` has made it, or of the
  /// coordinator with which the job has begun.
  static Buffer told(const JobStatus& status);

  /// The coordinator of `facts` counts time from then on, in seconds since 1970.
  JobPast(const JobFacts& facts, double counts_from);
  /// From when it has the job.
  explicit JobPast(const JobFacts& facts) : JobPast(facts, facts.coordinator.since) {}

  /// Takes what the one before has told: once, and nothing that this one has told itself.
  /// Errc::corrupt for what is no past.
  Result<Done> take(Bytes told);
  /// `seen` is what this coordinator has seen: the same as a part of all of the job, with times
  /// since that began.
  std::shared_ptr<const JobStatus> complete(const JobStatus& seen) const;

 private:
  double started_at_;
  const double counts_from_;
  const CoordinatorFacts coordinator_;
  /// Nothing: nobody has told.
  std::optional<JobHistory> before_;
};

}  // namespace piracema::observe
