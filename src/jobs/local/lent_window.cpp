#include "jobs/local/lent_window.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"

namespace piracema::jobs {

namespace {

using std::chrono::milliseconds;

// Nothing begins in what is left of a window then; leaving takes no less.
constexpr milliseconds least_leaving{1'000};
// A close is told of again and again, by a clock that may be set meanwhile.
constexpr milliseconds one_close{5'000};

}  // namespace

void LentWindow::learn(const Takes& takes) {
  takes_ = {std::max<Time>(takes.leaving, least_leaving), takes.ending};
}

bool LentWindow::is_open(Time now) const {
  if (!seen_.is_lent) return false;
  if (!seen_.gone_by) return true;
  if (closed_for_ && *seen_.gone_by <= *closed_for_ + one_close) return false;
  return now < *seen_.gone_by - takes_.leaving;
}

Lent LentWindow::told(Time now) const {
  if (is_open(now)) {
    const Time left = seen_.gone_by ? *seen_.gone_by - now : Time{};
    return {.closes_in_ms =
                static_cast<std::uint64_t>(std::chrono::duration_cast<milliseconds>(left).count())};
  }
  return {.open = false, .why = seen_.is_lent ? "as its window closes" : seen_.why};
}

bool LentWindow::turns(Time now) {
  const bool closes = !is_open(now);
  if (closes == closed_) return false;
  closed_ = closes;
  closed_for_ = closes ? seen_.gone_by : std::nullopt;
  return true;
}

std::string LentWindow::why_jobs_leave(Time now) const {
  if (!seen_.is_lent || !seen_.gone_by) {
    return concat("not lent any more, ", seen_.why, ": jobs leave");
  }
  const auto left = std::chrono::duration_cast<milliseconds>(*seen_.gone_by - now);
  return concat("the window closes in ", left.count(), " ms: jobs leave before it does");
}

Time LentWindow::at_most(Time until) const {
  return seen_.gone_by ? std::min(until, *seen_.gone_by - takes_.ending) : until;
}

std::optional<Time> LentWindow::next(bool any_lives) const {
  if (!seen_.gone_by) return std::nullopt;
  std::optional<Time> next;
  if (!closed_) next = *seen_.gone_by - takes_.leaving;
  if (any_lives) {
    const Time over = *seen_.gone_by - takes_.ending;
    next = std::min(next.value_or(over), over);
  }
  return next;
}

}  // namespace piracema::jobs
