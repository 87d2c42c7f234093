#pragma once

#include <optional>
#include <string>

#include "smr/order/agreement/decided_log.h"
#include "smr/order/agreement/divergence.h"
#include "smr/order/messages/events.h"
#include "smr/order/step/step.h"
#include "smr/order/transfer/checkpoints.h"

namespace piracema::smr {

/// A replica whose state differs from that of the others: nothing that it says counts any more. It
/// looks for the operation at which they parted, and gives up with its name.
class DivergenceSearch {
 public:
  DivergenceSearch(Step& step, const Membership& members, const Checkpoints& checkpoints,
                   const DecidedLog& decided_log, Time resend_interval);

  /// From then on this replica does nothing else.
  bool under_way() const { return divergence_.has_value(); }
  /// To be told at the end of each step: begins if the checkpoints have found a difference.
  void begin_if_parted();
  /// A step of the search, in place of any other.
  void search(const Event& event);
  std::optional<Time> next_deadline() const;

  /// Others search.
  void handle(Sender from, const TrailRequest& m);
  /// Of use only to who has asked.
  void handle(Sender, const Trail&) {}

 private:
  std::string describe(const Divergence::Place& place) const;

  Step& step_;
  const Membership& members_;
  const Checkpoints& checkpoints_;
  const DecidedLog& decided_log_;
  const Time resend_interval_;
  std::optional<Divergence> divergence_;
};

}  // namespace piracema::smr
