#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/clock.h"
#include "smr/order/leader/leader_patience.h"
#include "smr/order/leader/leadership.h"
#include "smr/order/step/progress.h"
#include "smr/order/step/step.h"

namespace piracema::smr {

/// Linearizable reads that are not ordered: the leader answers when a quorum has confirmed that it
/// still leads. core.h says what a client has to do with them.
class ConfirmedReads {
 public:
  ConfirmedReads(Step& step, const Membership& members, const Leadership& leadership,
                 const Progress& progress, LeaderPatience& patience, Time resend_interval);

  /// Answers, refuses, or keeps it until it is confirmed.
  void ask(std::uint64_t token);
  /// Asks the others to confirm what waits, or asks them again. All that was proposed by now, or
  /// bound, is at `after` or below.
  void confirm(Instance after);
  void handle(Sender from, const ConfirmLeader& m);
  void handle(Sender from, const LeaderConfirmed& m);
  /// Whatever is confirmed, and decided as far as it has to be.
  void answer();
  /// This replica leads no more, or does not know how far it is.
  void refuse();

  /// Reads wait and nobody is asked yet: confirm() has something to do at once.
  bool some_wait() const { return !waiting_.empty() && asked_.empty(); }
  /// When to ask again; none if nobody is asked.
  std::optional<Time> next_deadline() const;

 private:
  struct Read {
    std::uint64_t token = 0;
    /// All that may have been acknowledged before it was asked.
    Instance after = 0;
  };

  bool has_quorum() const { return confirmed_by_.size() >= members_.view().quorum(); }

  Step& step_;
  const Membership& members_;
  const Leadership& leadership_;
  const Progress& progress_;
  LeaderPatience& patience_;
  const Time resend_interval_;
  std::vector<Read> waiting_, asked_, confirmed_;
  std::uint64_t round_ = 0;
  std::set<std::size_t> confirmed_by_;
  Time again_at_{};
};

}  // namespace piracema::smr
