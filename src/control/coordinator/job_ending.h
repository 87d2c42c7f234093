#pragma once

#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "control/coordinator/members/journal.h"
#include "control/coordinator/members/members.h"
#include "control/coordinator_job.h"

namespace piracema::cluster {

/// How a job ends: sinks commit for the last time, processes leave, or are ended.
class JobEnding {
 public:
  JobEnding(Journal& journal, Members& members) : journal_(journal), members_(members) {}

  // ---- the last commit ----------------------------------------------------------------------

  /// Sinks commit what can no longer be lost; with `last`, for the last time.
  void commit(const Job& job, SnapshotId id, bool last);
  void committed(const runtime::Committed& committed);
  bool last_commit_begun() const { return journal_.metadata().last_commit.has_value(); }
  /// And all have.
  bool last_commit_done() const { return last_commit_begun() && uncommitted_.empty(); }
  void begin_epoch() { uncommitted_.clear(); }
  /// The snapshot that ends the job has failed so often that it ends without.
  bool may_be_unsaved() const;
  /// A job that was taken over: whatever was to be committed is, once more.
  void resume(const Job& job);

  // ---- processes leave ----------------------------------------------------------------------

  /// In order: those that have joined are told to, and have some seconds.
  void leave(int code, std::string why, Time now);
  /// All is done, and sinks have committed.
  void leave_done(Time now);
  /// What is rolled back is worth nothing, so without work to save the last snapshot is the end.
  void leave_stopped(Time now);
  /// At once.
  void fail(int code, std::string why);
  /// A job that was taken over while it left.
  void resume_leaving(Time now);
  /// Says to one that comes now that it shall leave.
  void send_off(Slot slot);
  /// Whether all have left, or are late and were ended.
  bool all_left(Time now);

  bool leaving() const { return journal_.metadata().end.has_value(); }
  Time leave_by() const { return leave_by_; }
  Finish finish() const;

 private:
  void end(int code, std::string why);

  Journal& journal_;
  Members& members_;
  /// The sinks that have not answered the last commit.
  std::set<ReplicaId> uncommitted_;
  Time leave_by_{};
};

}  // namespace piracema::cluster
