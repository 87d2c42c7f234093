#include "forecast/window/lending.h"

#include <algorithm>

namespace piracema::ckpt {

void Lending::user(Time now, bool is_there) {
  if (!watching_since_) watching_since_ = now;
  if (is_there && !user_since_) {
    was_lent_ = is_lent(now) || keeps(now);
    user_since_ = now;
  }
  if (is_there || !user_since_) return;
  kept_ = suspended_until() && now < *suspended_until();
  user_since_.reset();
  user_left_ = now;
}

std::optional<Time> Lending::idle_at() const {
  if (user_since_) return std::nullopt;
  if (user_left_) return *user_left_ + settings_.idle;
  if (watching_since_) return *watching_since_ + settings_.idle;
  return std::nullopt;
}

std::optional<Time> Lending::closes(Time now) const {
  return closes_ && now < *closes_ ? closes_ : std::nullopt;
}

bool Lending::is_lent(Time now) const {
  if (user_since_) return false;
  // Who has just left may come back at once.
  if (user_left_ && now < *idle_at()) return false;
  if (closes(now)) return true;
  return settings_.when_idle && idle_at() && now >= *idle_at();
}

std::optional<Time> Lending::gone_by(Time now) const {
  if (user_since_) {
    const Time promised = *user_since_ + settings_.grace;
    return closes_ ? std::min(promised, *closes_) : promised;
  }
  if (!is_lent(now) && !keeps(now)) return closes_ ? std::min(now, *closes_) : now;
  return closes(now);
}

std::optional<Time> Lending::suspended_until() const {
  if (!user_since_ || !was_lent_ || settings_.suspend <= Time{}) return std::nullopt;
  return *user_since_ + std::min(settings_.suspend, settings_.grace);
}

bool Lending::keeps(Time now) const {
  return kept_ && !user_since_ && !is_lent(now) && (settings_.when_idle || closes(now));
}

}  // namespace piracema::ckpt
