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

std::uint64_t ms_of(Time time) {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, std::chrono::ceil<milliseconds>(time).count()));
}

}  // namespace

void LentWindow::learn(const Takes& takes) {
  takes_ = {std::max<Time>(takes.leaving, least_leaving), takes.ending};
}

Time LentWindow::leaves_at() const {
  const Time stands_until = seen_.suspended_until.value_or(Time::max());
  return seen_.gone_by ? std::min(stands_until, *seen_.gone_by - takes_.leaving) : stands_until;
}

// Who was asked to leave once leaves, whatever is seen before the machine is lent anew.
LentWindow::Phase LentWindow::phase(Time now) const {
  if (seen_.is_lent) {
    if (!seen_.gone_by) return Phase::open;
    const bool is_same = closed_for_ && *seen_.gone_by <= *closed_for_ + one_close;
    return is_same || now >= leaves_at() ? Phase::closed : Phase::open;
  }
  const bool may_stay = phase_ != Phase::closed && now < leaves_at();
  if (may_stay && seen_.suspended_until) return Phase::suspended;
  return may_stay && seen_.keeps ? Phase::kept : Phase::closed;
}

Lent LentWindow::told(Time now, bool any_stays) const {
  const Phase phase = this->phase(now);
  if (phase == Phase::open) {
    const Time left = seen_.gone_by ? *seen_.gone_by - now : Time{};
    return {.closes_in_ms =
                static_cast<std::uint64_t>(std::chrono::duration_cast<milliseconds>(left).count())};
  }
  Lent told{.open = false, .why = seen_.is_lent ? "as its window closes" : seen_.why};
  if (!any_stays || phase == Phase::closed) return told;
  told.kept = phase == Phase::suspended ? Kept::stands_still : Kept::goes_on;
  if (phase == Phase::suspended)
    told.closes_in_ms = std::max<std::uint64_t>(1, ms_of(leaves_at() - now));
  return told;
}

bool LentWindow::turns(Time now) {
  const Phase phase = this->phase(now);
  if (phase == phase_) return false;
  phase_ = phase;
  if (phase == Phase::closed) closed_for_ = seen_.gone_by;
  if (phase == Phase::open) closed_for_.reset();
  return true;
}

std::string LentWindow::why_jobs_leave(Time now) const {
  if (!seen_.is_lent || !seen_.gone_by) {
    return concat("not lent any more, ", seen_.why, ": jobs leave");
  }
  const auto left = std::chrono::duration_cast<milliseconds>(*seen_.gone_by - now);
  return concat("the window closes in ", left.count(), " ms: jobs leave before it does");
}

std::string LentWindow::why_jobs_stand_still(Time now) const {
  return concat("not lent any more, ", seen_.why, ": jobs stand still, and leave in ",
                ms_of(leaves_at() - now), " ms unless they may go on before");
}

Time LentWindow::at_most(Time until) const {
  return seen_.gone_by ? std::min(until, *seen_.gone_by - takes_.ending) : until;
}

std::optional<Time> LentWindow::next(bool any_lives) const {
  std::optional<Time> next;
  const bool may_close = phase_ != Phase::closed && leaves_at() != Time::max();
  if (may_close) next = leaves_at();
  if (any_lives && seen_.gone_by) {
    const Time over = *seen_.gone_by - takes_.ending;
    next = std::min(next.value_or(over), over);
  }
  return next;
}

}  // namespace piracema::jobs
