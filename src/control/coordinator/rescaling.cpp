#include "control/coordinator/rescaling.h"

#include <utility>

#include "base/text.h"

namespace piracema::cluster {

namespace {

// Snapshots that fail, and workers that do not come, before the job stays as it is.
constexpr std::uint32_t failures_max = 3;
// A worker that the job has let go may take so long to leave.
constexpr std::chrono::milliseconds let_go_wait{5'000};

// From the plan that the job has to the one that is to follow.
std::string change_of(const Job& job, Slot slots, const ScaleBegun& next) {
  const auto shape = runtime::decode_shape(next.graph);
  return text_of_change(job.shape, slots, *shape, next.slots);
}

}  // namespace

AnswerRequest Rescaling::begin(const Job& job, const ScaleRequest& request, Time now) {
  if (under_way()) {
    return {.later = true, .why = concat("the job is being scaled already (", change_, ")")};
  }
  auto next = plan_scale(job, journal_.settings(), request);
  if (!next) return {.why = next.error().message};
  if (!*next) return {.accepted = true, .done = true};
  change_ = change_of(job, members_.active(), **next);
  asked_ = now;
  failures_ = 0;
  journal_.decide(**std::move(next));
  members_.grow();
  detector_.grow(members_.size());
  journal_.tell(ScaleStarted{change_});
  return {.accepted = true};
}

Result<Done> Rescaling::begin_with(const Job& job, const ScaleRequest& request) {
  auto next = plan_scale(job, journal_.settings(), request);
  if (!next) return next.error();
  if (!*next) return Done{};
  journal_.decide(**std::move(next));
  journal_.decide(PlanChanged{});
  return Done{};
}

void Rescaling::resume(const Job& job, Time now) {
  if (!under_way()) return;
  change_ = change_of(job, members_.active(), *journal_.metadata().scale);
  asked_ = now;
}

void Rescaling::change_plan(SnapshotId snapshot, Time now) {
  journal_.decide(PlanChanged{});
  journal_.tell(ScaleSwitched{snapshot});
  changed_ = true;
  let_go(now);
}

void Rescaling::all_run(Time now) {
  if (!std::exchange(changed_, false)) return;
  journal_.tell(ScaleEnded{change_, true, "", now - asked_, now - paused_});
}

bool Rescaling::give_up(const std::string& why, Time now) {
  if (!under_way()) return false;
  journal_.decide(ScaleGivenUp{});
  journal_.tell(ScaleEnded{change_, false, why, now - asked_, Time{}});
  let_go(now);
  return true;
}

bool Rescaling::failed(const std::string& why, Time now) {
  return under_way() && ++failures_ == failures_max && give_up(why, now);
}

void Rescaling::let_go(Time now) {
  for (Slot slot = members_.active(); slot < members_.size(); ++slot) {
    members_.let_go(slot, now + let_go_wait);
    detector_.forget(slot);
  }
}

}  // namespace piracema::cluster
