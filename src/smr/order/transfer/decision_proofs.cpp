#include "smr/order/transfer/decision_proofs.h"

#include <utility>

#include "smr/order/messages/statements.h"

namespace piracema::smr {

const Milestone* DecisionProofs::unproven() const {
  const auto& own = milestones_.own();
  return own && own->instance > best_.instance ? &*own : nullptr;
}

std::optional<DecisionProof> DecisionProofs::sign() {
  if (!members_.own() || !milestones_.wants(progress_.decided())) return std::nullopt;
  Milestone mine{progress_.decided(), progress_.history(), {}};
  mine.signature = auth_.sign(signed_bytes(mine));
  step_.send_others(message(mine));
  milestones_.passed(mine);
  return milestones_.add(members_.me(), mine, members_.view().one_correct());
}

std::optional<DecisionProof> DecisionProofs::on_word(Sender from, const Milestone& word) {
  if (!milestones_.wants(word.instance)) return std::nullopt;
  if (!auth_.verify(from.id, signed_bytes(word), word.signature)) return std::nullopt;
  return milestones_.add(from.id, word, members_.view().one_correct());
}

bool DecisionProofs::proves(const DecisionProof& claimed) const {
  if (claimed.instance == 0) return claimed.history == Digest{};
  // Verified before, or made here: whatever the signatures are, the statement is true.
  if (claimed.instance == best_.instance && claimed.history == best_.history) return true;
  return views_.proves(claimed);
}

bool DecisionProofs::contradicts(const DecisionProof& good) const {
  const auto mine = milestones_.history_at(good.instance);
  if (mine && *mine != good.history) return true;
  return good.instance == progress_.decided() && good.history != progress_.history();
}

void DecisionProofs::keep(DecisionProof better) {
  best_ = std::move(better);
  milestones_.proven(best_.instance);
  step_.persist(ProofKept{best_});
}

}  // namespace piracema::smr
