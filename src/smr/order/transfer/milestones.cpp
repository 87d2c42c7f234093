#include "smr/order/transfer/milestones.h"

#include <utility>

#include "smr/order/messages/settings.h"

namespace piracema::smr {

void Milestones::passed(Milestone own) {
  histories_[own.instance] = own.history;
  own_ = std::move(own);
}

bool Milestones::wants(Instance instance) const {
  if (instance <= proven_) return false;
  return instance % milestone_interval == 0 || instance == expected_;
}

std::optional<DecisionProof> Milestones::add(ReplicaId from, const Milestone& word,
                                             std::size_t one_correct) {
  if (!wants(word.instance)) return std::nullopt;
  words_[word.instance].emplace(from, word);
  // Of each member the newest few are enough: those that agree are near each other, and if they
  // are far ahead the newest are what this replica needs.
  std::size_t of_sender = 0;
  for (auto at = words_.rbegin(); at != words_.rend(); ++at) {
    of_sender += at->second.contains(from);
    if (of_sender > 2 * unproven_max / milestone_interval) {
      at->second.erase(from);
      break;
    }
  }
  std::erase_if(words_, [](const auto& entry) { return entry.second.empty(); });

  const auto at = words_.find(word.instance);
  if (at == words_.end()) return std::nullopt;
  DecisionProof proof{word.instance, word.history, {}};
  for (const auto& [signer, one] : at->second) {
    if (one.history == word.history) proof.signatures.push_back({signer, one.signature});
  }
  if (proof.signatures.size() < one_correct) return std::nullopt;
  return proof;
}

void Milestones::proven(Instance instance) {
  proven_ = std::max(proven_, instance);
  words_.erase(words_.begin(), words_.upper_bound(instance));
  histories_.erase(histories_.begin(), histories_.upper_bound(instance));
}

std::optional<Digest> Milestones::history_at(Instance instance) const {
  const auto at = histories_.find(instance);
  if (at == histories_.end()) return std::nullopt;
  return at->second;
}

}  // namespace piracema::smr
