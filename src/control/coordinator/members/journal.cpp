#include "control/coordinator/members/journal.h"

#include "base/ensure.h"

namespace piracema::cluster {

void Journal::decide(Decision decision) {
  ENSURE(metadata_.apply(decision).ok());
  decisions_.push_back(std::move(decision));
}

std::vector<Action> Journal::take() {
  auto actions = std::exchange(actions_, {});
  if (!decisions_.empty()) {
    actions.emplace(actions.begin(), Decide{std::exchange(decisions_, {})});
  }
  return actions;
}

}  // namespace piracema::cluster
