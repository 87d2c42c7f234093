#include "run/worker/attachment.h"

#include <variant>

namespace piracema::runtime {

bool Attachment::admit(std::uint64_t term) {
  if (term < term_) return false;
  term_ = term;
  return true;
}

bool Attachment::heard(const ToWorker& message) {
  const auto* deploy = std::get_if<Deploy>(&message);
  if (deploy == nullptr) return true;
  if (deploy->epoch <= epoch_) return false;
  epoch_ = deploy->epoch;
  said_.clear();
  return true;
}

void Attachment::said(const FromWorker& message) {
  const auto keep = [&](const auto& one) {
    if (one.epoch == epoch_) said_.emplace_back(one);
  };
  if (const auto* ready = std::get_if<Ready>(&message)) return keep(*ready);
  if (const auto* ended = std::get_if<Ended>(&message)) return keep(*ended);
  if (const auto* failed = std::get_if<OperatorFailed>(&message)) return keep(*failed);
  if (const auto* first = std::get_if<FirstOutput>(&message)) return keep(*first);
  const auto* committed = std::get_if<Committed>(&message);
  if (committed == nullptr) return;
  // The newest one says what those before it have said.
  std::erase_if(said_, [&](const FromWorker& before) {
    const auto* older = std::get_if<Committed>(&before);
    return older != nullptr && older->replica == committed->replica;
  });
  keep(*committed);
}

std::vector<FromWorker> Attachment::answer() const {
  std::vector<FromWorker> all{Attached{term_, epoch_}};
  all.insert(all.end(), said_.begin(), said_.end());
  return all;
}

}  // namespace piracema::runtime
