#include "jobs/protocol/history.h"

#include <algorithm>
#include <utility>

namespace piracema::jobs {

const char* name_of(Event::Kind kind) {
  using enum Event::Kind;
  switch (kind) {
    case node_joined:
      return "node_joined";
    case node_lost:
      return "node_lost";
    case node_returned:
      return "node_returned";
    case node_left:
      return "node_left";
    case node_drains:
      return "node_drains";
    case node_undrained:
      return "node_undrained";
    case node_closed:
      return "node_closed";
    case node_opened:
      return "node_opened";
    case node_forgotten:
      return "node_forgotten";
    case job_lost_node:
      return "job_lost_node";
    case job_moves:
      return "job_moves";
    case job_failed:
      return "job_failed";
    case job_began_again:
      return "job_began_again";
    case job_over:
      return "job_over";
    case user_put:
      return "user_put";
    case user_dropped:
      return "user_dropped";
    case node_full:
      return "node_full";
    case node_has_room:
      return "node_has_room";
    case job_suspended:
      return "job_suspended";
    case job_resumed:
      return "job_resumed";
  }
  return "unknown";
}

void History::add(Event event) {
  event.number = ++last_;
  event.at_ms = now_ms_;
  events_.push_back(std::move(event));
  if (events_.size() > events_max) events_.pop_front();
}

std::vector<Event> History::from(std::uint64_t number) const {
  const auto first = std::lower_bound(
      events_.begin(), events_.end(), number,
      [](const Event& event, std::uint64_t wanted) { return event.number < wanted; });
  return {first, events_.end()};
}

bool History::replace(std::vector<Event> events) {
  for (std::size_t i = 1; i < events.size(); ++i) {
    if (events[i].number != events[i - 1].number + 1) return false;
  }
  if (events.size() > events_max) return false;
  last_ = events.empty() ? 0 : events.back().number;
  events_.assign(std::make_move_iterator(events.begin()), std::make_move_iterator(events.end()));
  return true;
}

}  // namespace piracema::jobs
