#pragma once

#include <piracema/bytes.h>
#include <piracema/smr/watchable.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "base/clock.h"
#include "smr/replica/execution.h"
#include "smr/replica/held_reads.h"

namespace piracema::smr {

/// The reads that a replica was asked for and has not answered: those that wait for the core's word
/// (ReadNow, Refuse), and those that are held until there is news (HeldReads). Belongs to the
/// poller's thread.
class ReplicaReads {
 public:
  /// `known` false: this replica cannot say.
  using Answer = std::function<void(std::uint64_t token, bool known, Bytes result)>;

  /// `execution` and `machine` outlive it.
  ReplicaReads(Execution& execution, const StateMachine& machine, Answer answer)
      : execution_(execution),
        held_(dynamic_cast<const Watchable*>(&machine)),
        answer_(std::move(answer)) {}

  /// The core is asked for it.
  void add(std::uint64_t token, Buffer operation) { waiting_[token] = std::move(operation); }
  /// What the core says to one. `execute`: false if nobody waits for it.
  bool execute(std::uint64_t token);
  void refuse(std::uint64_t token);

  /// To be answered when there is something to tell; not ordered, and the core is not asked.
  void hold(std::uint64_t token, Buffer operation, Time now) {
    held_.add(token, std::move(operation), now);
  }
  /// Something was executed.
  void executed() { held_.executed(); }
  /// Looks whether there is news for those that are held; by `next_look` at the latest.
  void look(Time now);
  std::optional<Time> next_look() const { return held_.next_look(); }

 private:
  Execution& execution_;
  std::map<std::uint64_t, Buffer> waiting_;
  HeldReads held_;
  const Answer answer_;
};

}  // namespace piracema::smr
