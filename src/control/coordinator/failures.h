#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/clock.h"
#include "control/coordinator/members/journal.h"
#include "control/coordinator/members/members.h"
#include "control/coordinator/plan/planned_job.h"
#include "control/coordinator/restart_policy.h"
#include "control/coordinator_events.h"
#include "control/detector/failure_detector.h"
#include "control/loss_cause.h"

namespace piracema::cluster {

/// The epoch's work is void, if there is any: all go back to the newest snapshot.
struct GoBack {
  std::string why;
  /// Whose process was lost, if one was.
  std::optional<Slot> lost = {};
};
/// One that the next plan wants was lost; the job itself goes on.
struct PlanHindered {
  std::string why;
};
/// The snapshot that is under way cannot become complete; the job itself goes on.
struct SnapshotHindered {
  std::string why;
};
/// What a failure leads to. Nothing: it was no news, or is met already.
using Consequence = std::variant<std::monostate, GoBack, PlanHindered, SnapshotHindered, Finish>;

/// What goes wrong in a job, and what follows: processes that are lost, by whatever that was
/// noticed, operators that fail and operators that do not return. Ends processes, counts who fails
/// again and again, and tells people. What the job does then is for the coordinator, at once.
class Failures {
 public:
  Failures(Journal& journal, Members& members, FailureDetector& detector, const PlannedJob& job)
      : journal_(journal), members_(members), detector_(detector), job_(job), policy_(journal) {}

  // ---- processes ----------------------------------------------------------------------------

  /// The slot's process is taken for lost. It is neither absent nor ending.
  [[nodiscard]] Consequence lose(Slot slot, LossCause cause, std::string how, Time now);
  /// The slot's process has ended. `gone` follows once the job has done what this says, unless it
  /// has ended.
  [[nodiscard]] Consequence ended(const Exited& exited, Time now);
  /// The slot is free, and what the process was at when it ended is counted.
  [[nodiscard]] Consequence gone(const Exited& exited, Time now);
  /// Time has passed for the slot's process: it is late, or given up.
  [[nodiscard]] Consequence passed(Slot slot, Time now, bool restoring);

  // ---- operators ----------------------------------------------------------------------------

  /// `restoring`: the epoch has not begun.
  [[nodiscard]] Consequence failed(const runtime::OperatorFailed& failed, bool restoring);
  /// What a replica of the slot is at, in an epoch that runs, or at which item in one that has not
  /// begun. An operator that spins or blocks keeps its process's heartbeats coming.
  [[nodiscard]] Consequence heard(Slot slot, const runtime::Progress& progress, Time now);

  // ---- the job ------------------------------------------------------------------------------

  /// How the job ends if another epoch with nothing to show for it was one too many.
  std::optional<Finish> fruitless(const std::string& why) const { return policy_.fruitless(why); }
  /// A process was lost for which none can be started, or no state be found.
  bool fatal() const { return fatal_.has_value(); }
  /// Of that, all that is known of how it happened.
  Finish fatal_end() const;

 private:
  std::optional<Finish> not_joined(const Exited& exited) const;

  Journal& journal_;
  Members& members_;
  FailureDetector& detector_;
  const PlannedJob& job_;
  RestartPolicy policy_;
  std::optional<Slot> fatal_;
  std::string fatal_how_;
};

}  // namespace piracema::cluster
