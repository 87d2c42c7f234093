#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "control/coordinator_settings.h"
#include "control/detector/busy_watch.h"
#include "control/detector/deadlines.h"
#include "control/loss_cause.h"

namespace piracema::cluster {

/// Knows when each process of a job has to be heard of again, and proposes to take those for lost
/// that were not. It decides nothing, and what it knows is not part of the job's metadata: whoever
/// takes the job over begins to count anew.
///
/// Where processes cannot be replaced (the embedded mode) it proposes nothing.
class FailureDetector {
 public:
  /// The settings outlive it.
  explicit FailureDetector(const JobSettings& settings);

  struct Proposal {
    /// "no heartbeat for 1250 ms".
    std::string how;
    LossCause cause = LossCause::other;
  };

  // ---- what is expected of a process --------------------------------------------------------

  /// It has to join within `join_timeout`.
  void started(Slot slot, Time now);
  /// It has to attach within `attach_timeout`.
  void detached(Slot slot, Time now);
  /// A sign of life.
  void heard(Slot slot, Time now);
  /// It has to be ready, or to get on. After `fruitless` epochs in a row that is given more time.
  void deployed(Slot slot, Time now, std::uint32_t fruitless);
  /// It is not ready yet: how far it is, and whether an operator is at what it was at before.
  void restores(Slot slot, Time now, std::uint64_t progress, bool busy);
  void ready(Slot slot);
  /// Nothing is expected of it any more.
  void forget(Slot slot);

  // ---- what was not met ---------------------------------------------------------------------

  /// Whether the process should be taken for lost. `restoring`: the job waits for all to be ready.
  std::optional<Proposal> expired(Slot slot, Time now, bool restoring);
  /// What `replica` is at for long (BusyWatch).
  std::optional<BusyWatch::Busy> heard_of(Time now, const runtime::Progress& replica) {
    return busy_.heard(now, replica);
  }
  /// All replicas begin anew.
  void begin_epoch() { busy_.clear(); }
  /// The earliest time at which `expired` may say something.
  std::optional<Time> next_deadline(bool restoring) const;
  /// There are so many slots from now on; never fewer than before.
  void grow(std::size_t slots);

  /// A step comes after its deadline. If it is so late that it was the coordinator that did not
  /// run, that has heard nobody either, and does not take it for their silence. Each process has to
  /// be heard of once before it is forgiven again.
  void forgive(Time now, std::optional<Time> deadline);

  std::string silence() const;

 private:
  enum class Expected { nothing, to_join, to_attach, to_beat };
  struct Process {
    Expected expected = Expected::nothing;
    std::uint64_t progress = 0;
    Time progressed_at{};
    /// An operator has not returned yet from what it was at before the Deploy, as far as is known.
    bool busy = true;
    /// Has been ready for no Deploy yet: it loads its program as well as its state.
    bool fresh = true;
    bool forgiven = false;
  };

  void expect(Slot slot, Expected what, Time by);
  Time time_to_restore(bool busy) const;
  std::optional<Proposal> expired_restore(Slot slot, Time now);

  const JobSettings& settings_;
  std::vector<Process> processes_;
  /// Of what is expected of each.
  Deadlines deadlines_;
  /// When each has to be ready after a Deploy, unless it gets on; none once it is.
  Deadlines ready_by_;
  BusyWatch busy_;
  /// Of the last Deploy.
  std::uint32_t fruitless_ = 0;
};

}  // namespace piracema::cluster
