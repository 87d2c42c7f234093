#include "coll/plan/plan_mail.h"

#include <algorithm>
#include <cstring>

#include "base/ensure.h"

namespace piracema::coll {

// A letter: the number of a window; from rank 0 its plan as well.

void PlanMail::add(std::uint32_t window, std::span<const char> plan) {
  ENSURE(kept_.empty() || window == kept_.back().window + 1);
  std::string letter(reinterpret_cast<const char*>(&window), sizeof window);
  letter.append(plan.begin(), plan.end());
  kept_.push_back({window, std::move(letter)});
  const std::uint32_t all_have = *std::min_element(has_.begin() + 1, has_.end());
  while (!kept_.empty() && (kept_.front().window <= all_have || kept_.size() > kept_max)) {
    kept_.pop_front();
  }
}

void PlanMail::on_has(Rank rank, std::uint32_t window) {
  has_[rank] = std::max(has_[rank], window);
}

std::vector<Courier::Packet> PlanMail::due(Time now, const Around& around) {
  for (Rank to = 1; to < has_.size() && !kept_.empty(); ++to) {
    const std::uint32_t known = std::max(has_[to], posted_[to]);
    if (known >= kept_.back().window || (wanted_[to] <= known && !around(to))) continue;
    for (const Kept& plan : kept_) {
      if (plan.window > known) courier_.send(to, plan.letter);
    }
    posted_[to] = kept_.back().window;
  }
  return courier_.due(now, [&](Rank to) { return around(to).value_or(Time{}); });
}

void PlanMail::on_packet(Rank from, std::span<const char> bytes) {
  for (std::string& letter : courier_.on_packet(from, bytes)) {
    std::uint32_t window = 0;
    if (letter.size() < sizeof window) continue;
    std::memcpy(&window, letter.data(), sizeof window);
    if (from != 0) {
      wanted_[from] = std::max(wanted_[from], window);
      continue;
    }
    if (window <= taken_ || came_.size() == kept_max) continue;
    came_.emplace(window, letter.substr(sizeof window));
  }
}

std::optional<std::string> PlanMail::take(std::uint32_t window) {
  const auto found = came_.find(window);
  if (found == came_.end()) return std::nullopt;
  std::string plan = std::move(found->second);
  forget_up_to(window);
  return plan;
}

bool PlanMail::ask(std::uint32_t window) {
  if (asked_ >= window) return false;
  asked_ = window;
  courier_.send(0, std::string(reinterpret_cast<const char*>(&window), sizeof window));
  return true;
}

void PlanMail::forget_up_to(std::uint32_t window) {
  taken_ = window;
  came_.erase(came_.begin(), came_.upper_bound(window));
}

}  // namespace piracema::coll
