#pragma once

#include <map>
#include <optional>
#include <vector>

#include "smr/order/messages/messages.h"

namespace piracema::smr {

/// Byzantine: collects signed words of the members about what they have decided, until
/// one_correct() of them agree: then one that is correct has decided that. One signature for many
/// instances, where BFT-SMaRt signs every ACCEPT. Pure; signatures were checked.
class Milestones {
 public:
  /// Of this replica: what it had decided there.
  void passed(Milestone own);
  /// The proof, if this word completes it. Words about what is proven, or far beyond, are dropped.
  std::optional<DecisionProof> add(ReplicaId from, const Milestone& word, std::size_t one_correct);
  /// What is older is not needed any more.
  void proven(Instance instance);
  /// This instance is a milestone as well: the last one of a view, and wherever a checkpoint is
  /// taken.
  void expect(Instance instance) { expected_ = instance; }
  /// Whether a word about this instance is of use.
  bool wants(Instance instance) const;

  /// The newest of this replica; to be said again while it is not proven.
  const std::optional<Milestone>& own() const { return own_; }
  /// This replica's history there; nullopt if it is not there yet, or it was long ago.
  std::optional<Digest> history_at(Instance instance) const;

 private:
  Instance proven_ = 0, expected_ = 0;
  std::optional<Milestone> own_;
  std::map<Instance, Digest> histories_;
  std::map<Instance, std::map<ReplicaId, Milestone>> words_;
};

}  // namespace piracema::smr
