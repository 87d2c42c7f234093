#include "tools/kv/replica_board.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include "base/text.h"

namespace piracema::tools {

namespace {

constexpr Time rate_window = std::chrono::seconds(5);
constexpr std::size_t rates_kept = 600;

}  // namespace

std::size_t ReplicaSight::here() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(figures.members, [](const auto& member) { return member.connected; }));
}

std::optional<std::uint64_t> ReplicaSight::behind(const smr::ReplicaFigures::Member& member) const {
  if (member.newest == 0) return std::nullopt;
  std::vector<std::uint64_t> all;
  for (const auto& other : figures.members) all.push_back(other.newest);
  std::ranges::sort(all, std::greater<>());
  std::uint64_t most = figures.own.decided;
  if (figures.quorum != 0 && figures.quorum <= all.size()) {
    most = std::max(most, all[figures.quorum - 1]);
  }
  return most - std::min(most, member.newest);
}

std::string ReplicaSight::trouble() const {
  if (!figures.own.is_member) return "it is no member of the group";
  if (figures.own.silent) {
    return "it has lost what it had promised, and votes for nothing until it has caught up";
  }
  if (here() < figures.quorum) {
    return concat("it is connected to ", here() - 1, " others, and ", figures.quorum - 1,
                  " have to take part with it");
  }
  return "";
}

void ReplicaBoard::show(const smr::ReplicaFigures& figures, Time now) {
  auto sight = std::make_shared<ReplicaSight>();
  sight->figures = figures;
  sight->at = now;
  const std::lock_guard lock(mutex_);
  sight->rates.at = now;
  if (!recent_.empty() && now > recent_.front().at) {
    const double seconds = to_seconds(now - recent_.front().at);
    sight->rates.ordered = static_cast<double>(figures.ordered - recent_.front().ordered) / seconds;
    sight->rates.reads = static_cast<double>(figures.reads - recent_.front().reads) / seconds;
  }
  recent_.push_back({now, figures.ordered, figures.reads});
  while (recent_.size() > 2 && now - recent_[1].at >= rate_window) recent_.pop_front();
  past_.push_back(sight->rates);
  if (past_.size() > rates_kept) past_.pop_front();
  sight->past.assign(past_.begin(), past_.end());
  latest_ = std::move(sight);
}

std::shared_ptr<const ReplicaSight> ReplicaBoard::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

}  // namespace piracema::tools
