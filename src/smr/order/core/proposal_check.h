#pragma once

#include <optional>

#include "smr/order/agreement/agreed_clock.h"
#include "smr/order/agreement/consensus.h"
#include "smr/order/agreement/former_life.h"
#include "smr/order/agreement/request_pool.h"
#include "smr/order/leader/leadership.h"
#include "smr/order/leader/proposer.h"
#include "smr/order/step/step.h"
#include "smr/order/transfer/decision_proofs.h"

namespace piracema::smr {

/// Whether this replica votes for a proposal: what it has to know before it does, and which
/// proposals are to be looked at again when it knows more.
class ProposalCheck {
 public:
  ProposalCheck(const Settings& settings, const Step& step, const Membership& members,
                const Leadership& leadership, const FormerLife& life, const Proposer& proposer,
                const DecisionProofs& proofs, const AgreedClock& clock, const RequestPool& pool,
                const Authenticator& auth);

  /// Nothing in a proposal is looked at for longer than a correct leader makes it.
  bool is_bounded(const Batch& batch) const;
  /// Keeps a proposal until it can be judged. False if there is no room for it.
  bool hold(Consensus& consensus, const Propose& m) const;

  enum class Verdict {
    vote,
    wait,       ///< Something is not known yet; or there is nothing to vote for.
    ruled_out,  ///< By the SYNC of its regency: no correct leader proposes it.
  };
  /// Of the proposal that is held there.
  Verdict judge(Instance instance, Consensus& consensus);

  /// A proposal is held of which this replica could not verify all requests.
  bool some_doubtful() const { return some_doubtful_; }
  void forget_doubts() { some_doubtful_ = false; }
  /// When a batch that came too early by the agreed clock is to be looked at again.
  std::optional<Time> look_again_at() const { return look_again_at_; }
  void looks_again() { look_again_at_.reset(); }

 private:
  bool verified(const Batch& batch) const;
  bool is_believed(Consensus& consensus);

  const Settings settings_;
  const Step& step_;
  const Membership& members_;
  const Leadership& leadership_;
  const FormerLife& life_;
  const Proposer& proposer_;
  const DecisionProofs& proofs_;
  const AgreedClock& clock_;
  const RequestPool& pool_;
  const Authenticator& auth_;
  bool some_doubtful_ = false;
  std::optional<Time> look_again_at_;
};

}  // namespace piracema::smr
