#include "smr/client/tally.h"

#include <algorithm>

namespace piracema::smr {

const Tally::Answer* Tally::add(ReplicaId from, ReplyStatus status, Bytes result,
                                std::size_t enough) {
  // Each replica has one word, so there are never more choices than replicas.
  for (Choice& choice : choices_) std::erase(choice.by, from);
  auto choice = std::find_if(choices_.begin(), choices_.end(), [&](const Choice& each) {
    return each.answer.status == status && std::ranges::equal(Bytes(each.answer.result), result);
  });
  if (choice == choices_.end()) {
    std::erase_if(choices_, [](const Choice& each) { return each.by.empty(); });
    choice = choices_.insert(choices_.end(), Choice{{status, Buffer(result)}, {}});
  }
  choice->by.push_back(from);
  return choice->by.size() >= enough ? &choice->answer : nullptr;
}

std::size_t Tally::replicas() const {
  std::size_t count = 0;
  for (const Choice& choice : choices_) count += choice.by.size();
  return count;
}

std::size_t Tally::agreeing() const {
  std::size_t most = 0;
  for (const Choice& choice : choices_) most = std::max(most, choice.by.size());
  return most;
}

}  // namespace piracema::smr
