#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/clock.h"
#include "control/coordinator/members/journal.h"
#include "control/coordinator/members/members.h"
#include "control/coordinator_job.h"
#include "control/detector/failure_detector.h"

namespace piracema::cluster {

/// From the end of one epoch of a job until the next one runs: why it ended, whether anything is
/// done again, and the one message that all begin with. An epoch may also be found, by a
/// coordinator that takes the job over.
class EpochChange {
 public:
  EpochChange(Journal& journal, Members& members, FailureDetector& detector)
      : journal_(journal), members_(members), detector_(detector) {}

  // ---- it ends ------------------------------------------------------------------------------

  /// What was done since the newest snapshot is void and will be done again. From here to the next
  /// Deploy nothing that workers say counts.
  void go_back(std::string why);
  /// All stand at the newest snapshot: nothing will be done again.
  void go_on_at_snapshot(std::string why);
  /// Something was lost on the way from one epoch to the next.
  void disturbed() { at_snapshot_ = false; }
  /// A coordinator that takes the job over has not ended it; should it have to go back, this is
  /// why.
  void taken_over(std::string why) { why_ = std::move(why); }
  /// "worker 1 was lost".
  const std::string& why() const { return why_; }

  // ---- the next one begins ------------------------------------------------------------------

  /// One message for the start and for every recovery: all load the newest snapshot, or the
  /// beginning. `emitted`: by the sources, as far as is known.
  void deploy(const Job& job, std::uint64_t emitted, Time now);
  /// All were found in the epoch that the metadata has, and some or all of them ready.
  void attach(Time now);
  /// All are ready. True if the epoch was found.
  bool run();

 private:
  void end(std::string why);
  void await_ready(Time now);

  Journal& journal_;
  Members& members_;
  FailureDetector& detector_;
  std::string why_;
  /// The epoch ended so, and nothing was lost since.
  bool at_snapshot_ = false;
  /// Until all are ready.
  bool found_ = false;
};

}  // namespace piracema::cluster
