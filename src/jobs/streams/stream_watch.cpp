#include "jobs/streams/stream_watch.h"

#include <algorithm>
#include <utility>

namespace piracema::jobs {

std::vector<StreamWatch::Action> StreamWatch::step(Time now, const Event& event) {
  now_ = std::max(now_, now);
  std::visit([this](const auto& what) { on(what); }, event);
  std::vector<Action> actions;
  look(actions);
  tell(actions);
  return actions;
}

std::optional<Time> StreamWatch::next_deadline() const {
  std::optional<Time> next;
  const auto consider = [&next](Time time) { next = std::min(next.value_or(time), time); };
  if (!is_telling_ && any_untold()) consider(tell_at_);
  for (const auto& [attempt, stream] : streams_) {
    if (!stream.is_looking && looks_ < looks_max) consider(std::max(stream.look_at, look_at_));
  }
  return next;
}

bool StreamWatch::any_untold() const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [](const auto& one) { return one.second.untold.has_value(); });
}

// It has yet to begin: what it shows is looked for in a moment.
void StreamWatch::on(const Began& began) {
  streams_[began.attempt] = {.began = now_, .look_at = now_ + watched_pace};
}

void StreamWatch::on(const Gone& gone) {
  const auto found = streams_.find(gone.attempt);
  if (found == streams_.end()) return;
  looks_ -= found->second.is_looking ? 1 : 0;
  streams_.erase(found);
}

void StreamWatch::on(const Seen& seen) {
  const auto found = streams_.find(seen.sight.attempt);
  if (found == streams_.end() || !found->second.is_looking) return;
  Stream& stream = found->second;
  stream.is_looking = false;
  looks_ -= 1;
  const bool is_none = seen.sight.why == shows_no_stream;
  const bool begins = is_none && now_ < stream.began + beginning;
  stream.look_at = now_ + (seen.is_late ? late_pace : is_watched_ || begins ? watched_pace : pace);
  if (!is_none) {
    stream.none_until.reset();
  } else if (stream.none_until && now_ < *stream.none_until) {
    return;
  } else {
    stream.none_until = now_ + none_pace;
  }
  stream.untold = seen.sight;
}

// What was not taken is old news once somebody takes it.
void StreamWatch::on(const Told& told) {
  is_telling_ = false;
  if (!told.is_watched) {
    tell_at_ = now_ + watched_pace;
    // Whoever leads then may know nothing.
    for (auto& [attempt, stream] : streams_) stream.none_until.reset();
  }
  if (!std::exchange(is_watched_, told.is_watched.value_or(is_watched_)) && is_watched_) {
    for (auto& [attempt, stream] : streams_) {
      stream.look_at = std::min(stream.look_at, now_ + watched_pace);
    }
  }
}

void StreamWatch::look(std::vector<Action>& actions) {
  while (looks_ < looks_max && now_ >= look_at_) {
    // Whoever has waited longest.
    const auto first =
        std::min_element(streams_.begin(), streams_.end(), [](const auto& a, const auto& b) {
          return std::pair(a.second.is_looking, a.second.look_at) <
                 std::pair(b.second.is_looking, b.second.look_at);
        });
    if (first == streams_.end() || first->second.is_looking || first->second.look_at > now_) return;
    first->second.is_looking = true;
    looks_ += 1;
    look_at_ = now_ + least_gap;
    actions.push_back(Look{first->first});
  }
}

void StreamWatch::tell(std::vector<Action>& actions) {
  if (is_telling_ || now_ < tell_at_) return;
  Tell tell;
  for (auto& [attempt, stream] : streams_) {
    if (!stream.untold || tell.sights.size() == told_at_a_time) continue;
    tell.sights.push_back(*std::exchange(stream.untold, std::nullopt));
  }
  if (tell.sights.empty()) return;
  is_telling_ = true;
  tell_at_ = now_ + tell_gap;
  actions.push_back(std::move(tell));
}

}  // namespace piracema::jobs
