#include "sim/scheduler.h"

#include <algorithm>
#include <cstdio>

#include "base/ensure.h"

namespace piracema::sim {

Time Scheduler::between(Time least, Time most) {
  using std::chrono::microseconds;
  ENSURE(least <= most);
  const auto steps = std::chrono::duration_cast<microseconds>(most - least).count() + 1;
  const auto step = random_.below(static_cast<std::uint64_t>(steps));
  return least + microseconds(static_cast<std::int64_t>(step));
}

void Scheduler::at(Time time, std::function<void()> event) {
  events_.emplace(std::pair(std::max(time, now_), asked_++), std::move(event));
}

bool Scheduler::step() {
  if (events_.empty()) return false;
  auto next = events_.extract(events_.begin());
  now_ = next.key().first;
  next.mapped()();
  return true;
}

void Scheduler::run_until(Time time) {
  while (!events_.empty() && events_.begin()->first.first <= time) step();
  now_ = std::max(now_, time);
}

bool Scheduler::run_until(const std::function<bool()>& done, Time limit) {
  while (!done()) {
    if (events_.empty() || events_.begin()->first.first > limit) return false;
    step();
  }
  return true;
}

void Scheduler::print(const std::string& line) const {
  const double ms = std::chrono::duration<double, std::milli>(now_).count();
  std::fprintf(stderr, "%12.3f ms  %s\n", ms, line.c_str());
}

}  // namespace piracema::sim
