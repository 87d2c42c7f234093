#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "control/coordinator/epoch/phase.h"
#include "control/coordinator/members/journal.h"
#include "control/coordinator/plan/rescaling.h"
#include "control/coordinator/snapshots/moves.h"
#include "control/coordinator/snapshots/savepoint_taking.h"
#include "control/coordinator/snapshots/snapshot_coordinator.h"

namespace piracema::cluster {

/// Says when the next snapshot of a job is taken and what it is for: each interval has one, and
/// another plan, a savepoint or processes that move may want one sooner. Those hear of it when
/// theirs fails, and sources that wait behind the barrier of one that failed get another one.
class SnapshotSchedule {
 public:
  SnapshotSchedule(Journal& journal, SnapshotCoordinator& snapshots, Rescaling& rescaling,
                   SavepointTaking& savepoint, Moves& moves)
      : journal_(journal),
        snapshots_(snapshots),
        rescaling_(rescaling),
        savepoint_(savepoint),
        moves_(moves) {}

  /// The next one is due then, whatever was planned.
  void plan(Time at) { next_ = at; }
  /// It is due then, or later where it would be otherwise.
  void put_off_until(Time at);

  /// Takes the one that is due by now, if any is. The job is in a phase with work to save, and no
  /// snapshot is under way.
  void take_due(const Job& job, Phase phase, Time now);
  /// A snapshot failed itself, and not for something else that happened to the job.
  void failed(SnapshotId id, SnapshotPurpose purpose, const std::string& why, Time now);

  /// Whether the next snapshot is for processes that move.
  bool may_move(Phase phase) const;
  /// The job stays as it is, if it was to change. Sources may have been held up for that.
  void give_up_scale(const std::string& why, Time now);
  /// Something that another plan needs failed; once too often, and it is given up.
  void scale_failed(const std::string& why, Time now);

  /// When one is due, is late, or has been read ahead for too long. The phase is as above.
  std::optional<Time> next_deadline(Phase phase) const;

 private:
  std::optional<SnapshotPurpose> due(Phase phase, Time now);

  Journal& journal_;
  SnapshotCoordinator& snapshots_;
  Rescaling& rescaling_;
  SavepointTaking& savepoint_;
  Moves& moves_;
  Time next_{};
};

}  // namespace piracema::cluster
