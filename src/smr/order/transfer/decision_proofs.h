#pragma once

#include <optional>

#include "smr/order/step/progress.h"
#include "smr/order/step/step.h"
#include "smr/order/transfer/milestones.h"
#include "smr/order/views/reconfiguration.h"

namespace piracema::smr {

/// Byzantine: the best proof of what is decided that this replica has, for leader changes and for
/// replicas that are behind, and its part in the next one. Remembers; what a new proof changes is
/// for the caller to do.
class DecisionProofs {
 public:
  DecisionProofs(Step& step, const Membership& members, const Progress& progress,
                 const Reconfiguration& views, const Authenticator& auth)
      : step_(step), members_(members), progress_(progress), views_(views), auth_(auth) {}

  /// Of others as well: it may be above what is decided here.
  const DecisionProof& best() const { return best_; }
  /// Up to here it proves what is decided.
  Instance proven() const { return best_.instance; }
  /// This replica's newest word, if it is not proven yet: to be said again; null if it is.
  const Milestone* unproven() const;

  /// This instance is a milestone as well (Milestones).
  void expect(Instance instance) { milestones_.expect(instance); }
  /// Signs what is decided here and tells the others, if it is a milestone. The proof, if that
  /// completes it.
  std::optional<DecisionProof> sign();
  /// Another member's word. The proof, if that completes it.
  std::optional<DecisionProof> on_word(Sender from, const Milestone& word);

  /// Whether it is true: it is good, or says what is known already.
  bool proves(const DecisionProof& claimed) const;
  /// Whether this replica has decided something else, by a good proof.
  bool contradicts(const DecisionProof& good) const;
  /// A good proof that is better than the best one.
  void keep(DecisionProof better);

 private:
  Step& step_;
  const Membership& members_;
  const Progress& progress_;
  const Reconfiguration& views_;
  const Authenticator& auth_;
  Milestones milestones_;
  DecisionProof best_;
};

}  // namespace piracema::smr
