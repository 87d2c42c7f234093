#pragma once

#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "control/coordinator/members/journal.h"
#include "control/coordinator/members/members.h"
#include "control/coordinator_job.h"
#include "control/detector/failure_detector.h"
#include "control/scale_request.h"

namespace piracema::cluster {

/// A change of a job's plan, from when it is asked for until all run by the next plan, or it is
/// given up. That one is under way is part of what is true of the job; what it is called, and since
/// when it lasts, is for people.
class Rescaling {
 public:
  Rescaling(Journal& journal, Members& members, FailureDetector& detector)
      : journal_(journal), members_(members), detector_(detector) {}

  /// Asked for, and neither done at a snapshot nor given up.
  bool under_way() const { return journal_.metadata().scale.has_value(); }

  /// Begins what is asked, if it can be; the answer has no id. It is done when there is a moment
  /// for it: until then nothing has changed.
  AnswerRequest begin(const Job& job, const ScaleRequest& request, Time now);
  /// Of a job that was taken over.
  void resume(const Job& job, Time now);

  enum class Next {
    nothing,   ///< None is under way, or processes are missing.
    read,      ///< Processes read ahead; no snapshot is due meanwhile.
    snapshot,  ///< One that does not hold the sources up, so that little is to be read after it.
    hold,      ///< All is ready: the snapshot that the next plan goes on from.
  };
  /// What the running job is to do for it now; has processes read ahead what their replicas will
  /// need, from the newest complete snapshot. No snapshot is under way.
  Next next(Time now);
  /// What was said of reading ahead in this epoch.
  void has_read(Slot slot, SnapshotId snapshot);
  /// The snapshot that it wanted could not be taken: it goes without.
  void snapshot_failed() { rounds_ = rounds_max; }
  /// When reading ahead has taken too long.
  std::optional<Time> next_deadline() const;

  /// Its snapshot is taken, so sources stop.
  void pause(Time now) { paused_ = now; }
  /// All stand at this snapshot, and it can no longer be lost: the next plan holds. Processes that
  /// it has no need of leave.
  void change_plan(SnapshotId snapshot, Time now);
  /// All run; by the next plan, if it has changed.
  void all_run(Time now);

  /// The job stays as it is. False: nothing was under way.
  bool give_up(const std::string& why, Time now);
  /// Something that it needs failed. True: once too often, and it is given up.
  bool failed(const std::string& why, Time now);

 private:
  /// Of what there is at first, which is most of it, while the job goes on for long; and of what
  /// has changed meanwhile.
  static constexpr std::uint32_t rounds_max = 2;

  void let_go(Time now);
  void read_ahead(SnapshotId snapshot, Time now);
  void forget_reading();

  Journal& journal_;
  Members& members_;
  FailureDetector& detector_;
  /// As `text_of_change` has it.
  std::string change_;
  Time asked_{}, paused_{};
  std::uint32_t failures_ = 0;
  /// The plan has changed; until all run by it.
  bool changed_ = false;

  // ---- reading ahead, in one epoch
  Epoch reads_in_ = 0;
  std::uint32_t rounds_ = 0;
  /// The last one that was to be read.
  std::optional<SnapshotId> read_;
  /// Who has not read it yet, and for how long that is waited for.
  std::set<Slot> reading_;
  Time read_by_{};
};

}  // namespace piracema::cluster
