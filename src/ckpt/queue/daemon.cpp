#include "ckpt/queue/daemon.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"

namespace piracema::ckpt {

namespace {

constexpr Time retry_most = std::chrono::hours(1);

// A close is told of again and again, by a clock that is read in seconds.
constexpr Time one_close = std::chrono::seconds(5);

}  // namespace

std::vector<DaemonAction> Daemon::step(Time now, const DaemonEvent& event) {
  ENSURE(now >= now_);
  now_ = now;
  std::visit([this](const auto& e) { on(e); }, event);
  if (lending_.user_is_there()) take_back();
  ask_in_time();
  kill_late();
  if (is_lent()) start_jobs();
  return std::exchange(actions_, {});
}

void Daemon::on(const QueueSeen& event) {
  queue_ = event.jobs;
  std::erase_if(waiting_, [this](const auto& one) {
    return std::find(queue_.begin(), queue_.end(), one.first) == queue_.end();
  });
}

void Daemon::on(const JobLeft& event) {
  const auto found = running_.find(event.job);
  if (found == running_.end()) return;
  const Running gone = found->second;
  running_.erase(found);
  if (event.outcome == Outcome::ended) {
    std::erase(queue_, event.job);
    waiting_.erase(event.job);
  } else if (event.outcome == Outcome::stopped || event.outcome == Outcome::died) {
    waiting_.erase(event.job);
    // It has left as late as it could: begun again it would have to leave at once.
    const bool has_left = event.outcome == Outcome::stopped || gone.asked || gone.killed;
    if (has_left && !gone.wanted_back) waiting_[event.job].left_for = gone.gone_by;
  } else {
    Waiting& one = waiting_[event.job];
    one.not_before =
        now_ + std::min(retry_most, settings_.retry * (1 << std::min(one.failures, 10)));
    one.failures += 1;
  }
}

void Daemon::on(const LeavingTakes& event) {
  const auto found = running_.find(event.job);
  if (found == running_.end()) return;
  found->second.leaving_takes = event.leaving;
  found->second.ending_takes = event.ending;
}

std::optional<Time> Daemon::Running::ask_at() const {
  if (!gone_by || !leaving_takes || asked || wanted_back || killed) return std::nullopt;
  return *gone_by - *leaving_takes;
}

std::optional<Time> Daemon::Running::kill_at() const {
  if (!gone_by || killed) return std::nullopt;
  return *gone_by - ending_takes;
}

void Daemon::ask_in_time() {
  for (auto& [job, one] : running_) {
    const auto due = one.ask_at();
    if (!due || now_ < *due) continue;
    one.asked = true;
    actions_.push_back(LeaveJob{job, *one.gone_by});
  }
}

// A user who is there counts for more than what the calendar says.
void Daemon::take_back() {
  const Time by = *lending_.gone_by(now_);
  for (auto& [job, one] : running_) {
    if (one.wanted_back || one.killed) continue;
    one.wanted_back = true;
    one.gone_by = one.gone_by ? std::min(*one.gone_by, by) : by;
    actions_.push_back(LeaveJob{job, *one.gone_by});
  }
}

// Its keeper should have given up before; one that hangs does not keep the machine.
void Daemon::kill_late() {
  for (auto& [job, one] : running_) {
    if (!one.kill_at() || now_ < *one.kill_at()) continue;
    one.killed = true;
    actions_.push_back(KillJob{job});
  }
}

std::optional<Time> Daemon::not_before(const std::string& job) const {
  const auto found = waiting_.find(job);
  if (found == waiting_.end()) return Time{};
  const auto& left_for = found->second.left_for;
  const auto closes = lending_.closes(now_);
  if (left_for && closes && *closes <= *left_for + one_close) return std::nullopt;
  return found->second.not_before;
}

void Daemon::start_jobs() {
  const std::optional<Time> closes = lending_.closes(now_);
  for (const std::string& job : queue_) {
    if (running_.size() >= settings_.slots) return;
    if (running_.contains(job)) continue;
    const auto from = not_before(job);
    if (!from || now_ < *from) continue;
    running_[job].gone_by = closes;
    actions_.push_back(StartJob{job, closes});
  }
}

Daemon::Seen Daemon::job(const std::string& name) const {
  if (const auto found = running_.find(name); found != running_.end()) {
    const Running& one = found->second;
    return {.runs = true,
            .leaves = one.asked || one.wanted_back,
            .killed = one.killed,
            .gone_by = one.gone_by};
  }
  const auto found = waiting_.find(name);
  return {.not_before = not_before(name),
          .failures = found == waiting_.end() ? 0 : found->second.failures};
}

std::optional<Time> Daemon::wake() const {
  std::optional<Time> due;
  const auto at = [&](Time time) { due = due ? std::min(*due, time) : time; };
  for (const auto& [job, one] : running_) {
    if (one.ask_at()) at(*one.ask_at());
    if (one.kill_at()) at(*one.kill_at());
  }
  if (running_.size() >= settings_.slots) return due;
  if (!is_lent()) {
    if (const auto idle = lending_.idle_at(); idle && *idle > now_) at(*idle);
    return due;
  }
  for (const std::string& job : queue_) {
    const auto from = not_before(job);
    if (!running_.contains(job) && from) at(std::max(now_, *from));
  }
  return due;
}

}  // namespace piracema::ckpt
