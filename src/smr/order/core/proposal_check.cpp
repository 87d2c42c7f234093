#include "smr/order/core/proposal_check.h"

#include <algorithm>

namespace piracema::smr {

ProposalCheck::ProposalCheck(const Settings& settings, const Step& step, const Membership& members,
                             const Leadership& leadership, const FormerLife& life,
                             const Proposer& proposer, const DecisionProofs& proofs,
                             const AgreedClock& clock, const RequestPool& pool,
                             const Authenticator& auth)
    : settings_(settings),
      step_(step),
      members_(members),
      leadership_(leadership),
      life_(life),
      proposer_(proposer),
      proofs_(proofs),
      clock_(clock),
      pool_(pool),
      auth_(auth) {}

bool ProposalCheck::is_bounded(const Batch& batch) const {
  return batch.requests.size() <= settings_.batch_requests &&
         batch.encoded.size() <= settings_.batch_bytes + settings_.operation_bytes;
}

bool ProposalCheck::hold(Consensus& consensus, const Propose& m) const {
  // The first one of this regency is held; one of a later regency only where there is room, so
  // that no future leader can push the present one's out.
  const Regency regency = leadership_.regency();
  const bool has_room = !consensus.held || consensus.held_in < regency;
  if (!has_room && (m.regency != regency || consensus.held_in == regency)) return false;
  consensus.held = m.batch;
  consensus.held_in = m.regency;
  consensus.held_is_doubtful = false;
  return true;
}

ProposalCheck::Verdict ProposalCheck::judge(Instance instance, Consensus& consensus) {
  const Regency regency = leadership_.regency();
  if (!consensus.held || consensus.held_in != regency) return Verdict::wait;
  if (!leadership_.synced() || !leadership_.votes()) return Verdict::wait;
  if (!life_.may_vote_at(instance)) return Verdict::wait;
  if (consensus.took_in(regency)) return Verdict::wait;
  const bool byzantine = members_.byzantine();
  if (byzantine && instance > proofs_.proven() + unproven_max) return Verdict::wait;
  const Digest& digest = consensus.held->digest;
  const Digest* value = proposer_.bound_at(instance);
  if (value && *value != digest) {
    consensus.held = nullptr;
    return Verdict::ruled_out;
  }
  if (consensus.decided && *consensus.decided != digest) return Verdict::wait;
  // What a correct replica has written before, or decided, it has verified.
  if (!byzantine || value || consensus.decided) return Verdict::vote;
  return is_believed(consensus) ? Verdict::vote : Verdict::wait;
}

bool ProposalCheck::is_believed(Consensus& consensus) {
  const Batch& batch = *consensus.held;
  if (!consensus.held_is_doubtful) consensus.held_is_doubtful = !verified(batch);
  const bool too_early = !clock_.allows(step_.now(), batch.time);
  some_doubtful_ |= consensus.held_is_doubtful;
  if (!consensus.held_is_doubtful && !too_early) return true;
  // A MAC convinces only whom it was made for. If one_correct() members wrote it, one of them is
  // correct and the client did ask for it: so half-good MACs split nobody. Nor do clocks that
  // differ; and what is too early now is looked at again.
  const Vote vote{leadership_.regency(), batch.digest};
  if (consensus.writes.count(vote) >= members_.view().one_correct()) return true;
  if (too_early) {
    const Time at = clock_.allowed_at(step_.now(), batch.time);
    look_again_at_ = std::min(look_again_at_.value_or(at), at);
  }
  return false;
}

// What waits here was verified when it came. To compare it takes less than a MAC, if it is long.
bool ProposalCheck::verified(const Batch& batch) const {
  constexpr std::size_t is_long = 256;
  return std::all_of(batch.requests.begin(), batch.requests.end(), [this](const Request& request) {
    if (request.operation.size() >= is_long) return pool_.holds(request) || auth_.verify(request);
    return auth_.verify(request) || pool_.holds(request);
  });
}

}  // namespace piracema::smr
