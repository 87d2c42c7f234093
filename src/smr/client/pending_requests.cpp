#include "smr/client/pending_requests.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace piracema::smr::client {

PendingRequest* PendingRequests::add(PendingPtr pending, Sequence least) {
  if (has_session(pending->request.kind)) {
    if (window_.has_room()) return &window_.add(std::move(pending));
    waiting_.push_back(std::move(pending));
    return nullptr;
  }
  last_number_ = std::max(last_number_ + 1, least);
  pending->request.sequence = last_number_;
  PendingPtr& place = sessionless_[last_number_];
  place = std::move(pending);
  return place.get();
}

PendingPtr PendingRequests::next_waiting() {
  if (waiting_.empty() || !window_.has_room()) return nullptr;
  PendingPtr pending = std::move(waiting_.front());
  waiting_.pop_front();
  return pending;
}

PendingRequest* PendingRequests::find(std::uint64_t session, Sequence sequence) {
  if (session != 0) return window_.find(session, sequence);
  const auto found = sessionless_.find(sequence);
  return found == sessionless_.end() ? nullptr : found->second.get();
}

PendingPtr PendingRequests::take(const PendingRequest& found) {
  if (has_session(found.request.kind)) return window_.take(found);
  const auto place = sessionless_.find(found.request.sequence);
  PendingPtr taken = std::move(place->second);
  sessionless_.erase(place);
  return taken;
}

std::vector<PendingPtr> PendingRequests::take_changes() {
  std::vector<PendingPtr> changes;
  for (auto one = sessionless_.begin(); one != sessionless_.end();) {
    const bool is_change = one->second->request.kind == Kind::reconfigure;
    if (is_change) changes.push_back(std::move(one->second));
    one = is_change ? sessionless_.erase(one) : std::next(one);
  }
  return changes;
}

std::deque<PendingPtr> PendingRequests::take_waiting() { return std::exchange(waiting_, {}); }

std::vector<Ticket> PendingRequests::drop_late(Time now) {
  std::vector<Ticket> late;
  std::erase_if(waiting_, [&](const PendingPtr& pending) {
    if (pending->deadline > now) return false;
    late.push_back(pending->ticket);
    return true;
  });
  return late;
}

}  // namespace piracema::smr::client
