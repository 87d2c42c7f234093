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
  /// What the next coordinator is to take. `status` is as `complete` has made it.
  static Buffer told(const JobStatus& status);

  /// The coordinator of `facts` has the job since `facts.coordinator.since`, and counts time from
  /// then on.
  explicit JobPast(const JobFacts& facts);

  /// Takes what the one before has told: once, and nothing that this one has told itself.
  /// Errc::corrupt for what is no past.
  Result<Done> take(Bytes told);
  /// `seen` is what this coordinator has seen: the same as a part of all of the job, with times
  /// since that began.
  std::shared_ptr<const JobStatus> complete(const JobStatus& seen) const;

 private:
  double started_at_;
  const CoordinatorFacts coordinator_;
  /// Nothing: nobody has told.
  std::optional<JobHistory> before_;
};

}  // namespace piracema::observe
