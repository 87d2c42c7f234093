#include "smr/link/read_turns.h"

#include "smr/link/link.h"

namespace piracema::smr {

void ReadTurns::add(std::shared_ptr<Link> link) {
  if (link->waits_) return;
  link->waits_ = true;
  auto& queue = waiting_[link->source_];
  if (queue.empty()) order_.push_back(link->source_);
  queue.push_back(link);
  fresh_.push_back(std::move(link));
}

void ReadTurns::run(Time time) {
  if (order_.empty()) return;
  const Time end = now() + time;
  do {
    const auto found = waiting_.find(order_.front());
    order_.pop_front();
    const auto link = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) {
      waiting_.erase(found);
    } else {
      order_.push_back(found->first);
    }
    link->waits_ = false;
    // Whoever has more to say comes back behind all others: by itself, or by the poller.
    link->take_turn();
  } while (!order_.empty() && now() < end);
  for (const auto& link : fresh_) link->watch();
  fresh_.clear();
}

std::size_t ReadTurns::waiting() const {
  std::size_t count = 0;
  for (const auto& [source, links] : waiting_) count += links.size();
  return count;
}

}  // namespace piracema::smr
