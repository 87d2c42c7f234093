#include "ckpt/keeper/window_watch.h"

#include <algorithm>
#include <utility>

namespace piracema::ckpt {

namespace {

/// Between two forecasts while a job runs: its memory grows, and the store has other users.
constexpr Time forecast_interval = std::chrono::seconds(1);

double seconds_between(Time from, Time to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

WindowWatch::WindowWatch(net::Poller& poller, WindowAt window, double risk, StoreWatch& store,
                         const Workplace& place, Calls calls)
    : poller_(poller),
      window_(std::move(window)),
      risk_(risk),
      store_(store),
      place_(place),
      calls_(std::move(calls)) {}

WindowWatch::~WindowWatch() {
  for (const auto& timer : {opening_, next_forecast_}) {
    if (timer) poller_.cancel(*timer);
  }
}

void WindowWatch::look() {
  opening_.reset();
  const auto span = window_(std::max(now(), done_));
  if (!span) return calls_.none_follows();
  if (span->opens > now()) {
    calls_.waits(span->opens);
    opening_ = poller_.at(span->opens, [this] { look(); });
    return;
  }
  done_ = closes_ = span->closes;
  opened_ = now();
  forecast();
  calls_.opened(closes_);
}

void WindowWatch::leave_by(Time closes) {
  opened_ = now();
  closes_ = closes_ == Time{} ? closes : std::min(closes_, closes);
  forecast();
}

void WindowWatch::forecast() {
  if (next_forecast_) poller_.cancel(*next_forecast_);
  next_forecast_ = poller_.at(now() + forecast_interval, [this] {
    next_forecast_.reset();
    if (calls_.is_in_use()) forecast();
  });
  const JobMemory memory = place_.memory();
  const Outlook next = store_.outlook(memory);
  const double left = seconds_between(now(), closes_);
  const double length = seconds_between(opened_, closes_);
  const double ending = ending_seconds(static_cast<double>(memory.resident));
  const PlannerSettings settings{.risk = risk_,
                                 .reserve = std::max(PlannerSettings().reserve, ending)};
  const Plan plan = plan_dump(settings, length, left, next.forecast);
  if (window_) store_.announce(plan, closes_, length, next.features);
  calls_.forecast(from_seconds(plan.duration), from_seconds(ending));
}

}  // namespace piracema::ckpt
