#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "linearizability/history.h"
#include "sim/smr/machine.h"
#include "smr/request.h"
#include "smr/view.h"

namespace piracema::smr_sim {

/// Sees everything in the simulated world, and knows what must never be. Of correct replicas only:
/// what a liar does is not a promise of anybody.
class Oracle {
 public:
  /// `clocks_jump`: nobody can promise then that a lease is not over too early, and a token is all
  /// that keeps its former holder out.
  ///
  /// `bounded_clock`: no leader may let the time of batches run ahead
  /// (smr/order/agreement/clock_bound.h).
  Oracle(const Time& now, bool clocks_jump, bool bounded_clock)
      : now_(now), clocks_jump_(clocks_jump), bounded_clock_(bounded_clock) {}

  void complain(const std::string& what);
  const std::vector<std::string>& complaints() const { return complaints_; }

  /// A replica's core hands over a decided batch. Agreement: for each instance the same everywhere,
  /// for ever.
  void decided(smr::ReplicaId replica, smr::Instance instance, const smr::Batch& batch);
  /// A replica has executed up to `instance` and its state is this. Equal at equal positions.
  void reached(smr::ReplicaId replica, smr::Instance instance, std::uint64_t state);
  /// All replicas take one at a place where it is due, or none.
  void checkpoint_due(smr::ReplicaId replica, smr::Instance instance, bool worth_it);
  /// The same for what a checkpoint is.
  void checkpoint(smr::ReplicaId replica, smr::Instance instance, const smr::Digest& digest);

  /// A replica holds it for proven that this is the history up to `instance`: then some correct one
  /// has decided all of that, and it is everybody's.
  void proven(smr::ReplicaId replica, smr::Instance instance, const smr::Digest& history);

  /// Identifies an operation of a client to `answered`.
  std::size_t called(std::uint64_t client, const Op& op);
  void answered(std::size_t operation, const OpReply& reply);
  /// Nobody will ever know what became of it.
  void abandoned(std::size_t) { abandoned_ += 1; }
  /// Places where all would have taken a checkpoint of a smaller state.
  std::size_t skipped_checkpoints() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(checkpoints_due_, [](const auto& due) { return !due.second.first; }));
  }
  std::size_t unanswered() const { return calls_.size() - answered_ - abandoned_; }

  /// From some instance on these are the members for this replica; the same for all of one number.
  void uses_view(smr::ReplicaId replica, const smr::View& view);

  /// When all is over: acknowledged operations are in the order once, and what clients saw was
  /// possible.
  void judge();

  /// The last instance that anybody has decided.
  smr::Instance newest() const { return decided_.empty() ? 0 : decided_.rbegin()->first; }
  std::uint64_t operations() const { return calls_.size(); }

 private:
  struct Decided {
    smr::Digest digest{};
    /// Of all that is in the batch, whatever the digest says.
    std::uint64_t contents = 0;
    smr::ReplicaId first = 0;
  };
  struct Call {
    Op op;
    Time at{};
    bool answered = false;
    std::size_t history = 0;
  };
  /// Somebody who was told so trusts to have a lease alone until then, in true time.
  struct Belief {
    std::uint64_t client = 0, token = 0;
    Time from{}, until{};
  };

  void believe(const Call& call, const OpReply& reply);

  const Time& now_;
  const bool clocks_jump_, bounded_clock_;
  std::vector<std::string> complaints_;
  std::map<smr::Instance, Decided> decided_;
  /// Of what is decided, from the first instance on.
  std::vector<smr::Digest> histories_;
  std::map<smr::Instance, std::pair<std::uint64_t, smr::ReplicaId>> states_;
  std::map<smr::Instance, std::pair<smr::Digest, smr::ReplicaId>> checkpoints_;
  std::map<smr::Instance, std::pair<bool, smr::ReplicaId>> checkpoints_due_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> ordered_;
  std::vector<Call> calls_;
  std::size_t answered_ = 0, abandoned_ = 0;
  std::map<smr::ViewId, std::pair<std::string, smr::ReplicaId>> views_;
  linearizability::History<MapModel> map_;
  linearizability::History<LeaseModel> leases_;
  std::map<std::uint64_t, std::vector<Belief>> beliefs_;
};

}  // namespace piracema::smr_sim
