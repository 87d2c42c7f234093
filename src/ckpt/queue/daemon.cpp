#include "ckpt/queue/daemon.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"

namespace piracema::ckpt {

namespace {

constexpr Time retry_most = std::chrono::hours(1);

}  // namespace

std::vector<DaemonAction> Daemon::step(Time now, const DaemonEvent& event) {
  ENSURE(now >= now_);
  now_ = now;
  std::visit([this](const auto& e) { on(e); }, event);
  if (user_) take_back();
  kill_late();
  if (is_lent()) start_jobs();
  return std::exchange(actions_, {});
}

void Daemon::on(const UserSeen& event) {
  if (!watching_since_) watching_since_ = now_;
  if (user_ && !event.present) user_left_ = now_;
  user_ = event.present;
}

void Daemon::on(const QueueSeen& event) {
  queue_ = event.jobs;
  std::erase_if(waiting_, [this](const auto& one) {
    return std::find(queue_.begin(), queue_.end(), one.first) == queue_.end();
  });
}

void Daemon::on(const JobLeft& event) {
  if (running_.erase(event.job) == 0) return;
  if (event.outcome == Outcome::ended) {
    std::erase(queue_, event.job);
    waiting_.erase(event.job);
  } else if (event.outcome == Outcome::stopped) {
    waiting_.erase(event.job);
  } else {
    Waiting& one = waiting_[event.job];
    one.not_before =
        now_ + std::min(retry_most, settings_.retry * (1 << std::min(one.failures, 10)));
    one.failures += 1;
  }
}

// A user who is there counts for more than what the calendar says.
void Daemon::take_back() {
  const Time by = now_ + settings_.grace;
  for (auto& [job, one] : running_) {
    if (one.leaving || one.killed) continue;
    one.leaving = true;
    one.gone_by = one.gone_by ? std::min(*one.gone_by, by) : by;
    actions_.push_back(LeaveJob{job, *one.gone_by});
  }
}

// Its keeper should have given up before; one that hangs does not keep the machine.
void Daemon::kill_late() {
  for (auto& [job, one] : running_) {
    if (one.killed || !one.gone_by || now_ < *one.gone_by) continue;
    one.killed = true;
    actions_.push_back(KillJob{job});
  }
}

std::optional<Time> Daemon::idle_at() const {
  if (user_) return std::nullopt;
  if (user_left_) return *user_left_ + settings_.idle;
  if (watching_since_) return *watching_since_ + settings_.idle;
  return std::nullopt;
}

bool Daemon::is_lent() const {
  if (user_) return false;
  // Who has just left may come back at once.
  if (user_left_ && now_ < *idle_at()) return false;
  if (closes_ && now_ < *closes_) return true;
  return settings_.when_idle && idle_at() && now_ >= *idle_at();
}

Time Daemon::not_before(const std::string& job) const {
  const auto found = waiting_.find(job);
  return found == waiting_.end() ? Time{} : found->second.not_before;
}

void Daemon::start_jobs() {
  const bool in_window = closes_ && now_ < *closes_;
  const std::optional<Time> closes = in_window ? closes_ : std::nullopt;
  for (const std::string& job : queue_) {
    if (running_.size() >= settings_.slots) return;
    if (running_.contains(job) || now_ < not_before(job)) continue;
    running_[job].gone_by = closes;
    actions_.push_back(StartJob{job, closes});
  }
}

std::optional<Time> Daemon::wake() const {
  std::optional<Time> due;
  const auto at = [&](Time time) { due = due ? std::min(*due, time) : time; };
  for (const auto& [job, one] : running_) {
    if (one.gone_by && !one.killed) at(*one.gone_by);
  }
  if (running_.size() >= settings_.slots) return due;
  if (!is_lent()) {
    if (idle_at() && *idle_at() > now_) at(*idle_at());
    return due;
  }
  for (const std::string& job : queue_) {
    if (!running_.contains(job)) at(std::max(now_, not_before(job)));
  }
  return due;
}

}  // namespace piracema::ckpt
