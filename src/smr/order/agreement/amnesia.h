#pragma once

#include <map>
#include <optional>

#include "smr/order/messages/messages.h"

namespace piracema::smr {

/// What a replica that lost its disk may have promised before, as far as the others can tell. It
/// votes again once everything is decided for which it may have voted, and in no regency that it
/// may have left. docs/formats/replica.md has the argument. Pure.
///
/// Whatever it had decided, a quorum had voted for; and it had entered no regency for which a
/// quorum had not said STOP. Each of those quorums has a correct member among any `needed` other
/// ones that answer, so the highest of `needed` answers is high enough. It had voted for nothing
/// further than view_delay above what it had decided.
class Amnesia {
 public:
  /// Answers of one life of this replica (the nonce), from members that rule in the same view. The
  /// first answer of a member counts.
  void on_offer(ReplicaId from, const StateOffer& offer, const View& view);
  /// Another view rules now: its members have to be asked.
  void forget() { answers_.clear(); }

  struct Fence {
    /// It votes only above this, once all up to here is decided.
    Instance instance = 0;
    /// It enters this regency, and leads in none up to it.
    Regency regency = 0;
  };
  /// nullopt as long as too few have answered.
  std::optional<Fence> fence(const View& view) const;

  /// How many others have to answer: n - quorum + 1, and as many more as may lie. Who lost its
  /// disk is one of the f itself.
  static std::size_t needed(const View& view);

 private:
  std::map<ReplicaId, Fence> answers_;
};

}  // namespace piracema::smr
