#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "control/coordinator/journal.h"
#include "control/coordinator/members.h"
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
  /// Of a job that is planned and has not begun: it has these numbers from the beginning.
  /// Errc::config if it cannot.
  Result<Done> begin_with(const Job& job, const ScaleRequest& request);
  /// Of a job that was taken over.
  void resume(const Job& job, Time now);
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
  void let_go(Time now);

  Journal& journal_;
  Members& members_;
  FailureDetector& detector_;
  /// As `text_of_change` has it.
  std::string change_;
  Time asked_{}, paused_{};
  std::uint32_t failures_ = 0;
  /// The plan has changed; until all run by it.
  bool changed_ = false;
};

}  // namespace piracema::cluster
