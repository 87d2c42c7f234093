#pragma once

#include <optional>
#include <string>

#include "control/coordinator/members/journal.h"
#include "control/coordinator_events.h"
#include "control/coordinator_job.h"

namespace piracema::cluster {

/// What a job runs, and where: known once its first process has joined, and the same for all that
/// follow. It is what the metadata says, read and planned once.
class PlannedJob {
 public:
  explicit PlannedJob(Journal& journal) : journal_(journal) { reload(); }

  /// The metadata says something else now.
  void reload();

  /// Nothing until the first process has joined.
  const std::optional<Job>& get() const { return job_; }
  explicit operator bool() const { return job_.has_value(); }
  const Job& operator*() const { return *job_; }
  const Job* operator->() const { return &*job_; }

  /// A process has come. The first one says what the job runs; Errc::config with a sentence if
  /// that cannot be planned, or if a later one runs anything else.
  Result<Done> admit(const Joined& joined);

  /// "worker 1 (work/1, writer)", for people.
  std::string worker_name(Slot slot) const;

 private:
  Result<Done> plan(const Joined& first);

  Journal& journal_;
  std::optional<Job> job_;
};

}  // namespace piracema::cluster
