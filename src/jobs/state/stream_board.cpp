#include "jobs/state/stream_board.h"

#include <algorithm>
#include <utility>

#include "wire/fields.h"

namespace piracema::jobs {

void StreamBoard::put(StreamSight sight, std::uint64_t now_ms) {
  const std::lock_guard lock(mutex_);
  const JobId job = sight.attempt.job;
  if (sights_.size() >= streams_max && !sights_.contains(job)) {
    const auto oldest = std::min_element(
        sights_.begin(), sights_.end(),
        [](const auto& a, const auto& b) { return a.second.told_ms < b.second.told_ms; });
    // Those that are told of again and again stay.
    if (oldest->second.told_ms + watched_ms > now_ms) return;
    sights_.erase(oldest);
  }
  sight.told_ms = now_ms;
  sights_[job] = bounded(std::move(sight));
}

bool StreamBoard::is_watched(std::uint64_t now_ms) const {
  const std::lock_guard lock(mutex_);
  return asked_ms_ != 0 && now_ms < asked_ms_ + watched_ms;
}

StreamBoard::Some StreamBoard::from(JobId first, std::size_t bytes, std::uint64_t now_ms,
                                    const std::function<bool(const Attempt&)>& is_so) {
  const std::lock_guard lock(mutex_);
  asked_ms_ = std::max(asked_ms_, now_ms);
  Some some;
  for (auto at = sights_.lower_bound(first); at != sights_.end();) {
    if (!is_so(at->second.attempt)) {
      at = sights_.erase(at);
      continue;
    }
    const std::size_t size = wire::encode(at->second).size();
    if (size > bytes && !some.sights.empty()) {
      some.next = at->first;
      break;
    }
    bytes -= std::min(bytes, size);
    some.sights.push_back(at->second);
    ++at;
  }
  return some;
}

}  // namespace piracema::jobs
