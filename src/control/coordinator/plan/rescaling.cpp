#include "control/coordinator/plan/rescaling.h"

#include <algorithm>
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

// Else there is nothing that could be read ahead.
bool has_states_by_key(const ScaleBegun& plan) {
  const auto shape = runtime::decode_shape(plan.graph);
  return std::any_of(shape->nodes.begin(), shape->nodes.end(),
                     [](const NodeShape& node) { return node.keyed; });
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
  forget_reading();
  journal_.decide(**std::move(next));
  members_.grow();
  detector_.grow(members_.size());
  journal_.tell(ScaleStarted{change_});
  return {.accepted = true};
}

void Rescaling::resume(const Job& job, Time now) {
  if (!under_way()) return;
  change_ = change_of(job, members_.active(), *journal_.metadata().scale);
  asked_ = now;
}

// ---- reading ahead: docs/design/018 ----------------------------------------------------------

Rescaling::Next Rescaling::next(Time now) {
  if (!under_way() || !members_.all_wanted_joined()) return Next::nothing;
  if (const Epoch epoch = journal_.metadata().epoch; reads_in_ != epoch) {
    forget_reading();
    reads_in_ = epoch;
    if (!has_states_by_key(*journal_.metadata().scale)) rounds_ = rounds_max;
  }
  if (!reading_.empty() && now < read_by_) return Next::read;
  reading_.clear();
  if (rounds_ == rounds_max) return Next::hold;
  const auto newest = journal_.metadata().snapshots.newest();
  if (!newest || newest == read_) return Next::snapshot;
  rounds_ += 1;
  read_ahead(*newest, now);
  return Next::read;
}

void Rescaling::forget_reading() {
  reads_in_ = 0;
  rounds_ = 0;
  read_.reset();
  reading_.clear();
}

void Rescaling::read_ahead(SnapshotId snapshot, Time now) {
  const ScaleBegun& plan = *journal_.metadata().scale;
  runtime::ReadAhead message{journal_.metadata().epoch, snapshot, plan.placement, {}};
  const auto shape = runtime::decode_shape(plan.graph);
  for (const NodeShape& node : shape->nodes) message.replicas.push_back(node.replicas);
  for (Slot slot = 0; slot < plan.slots; ++slot) {
    members_.send(slot, message);
    reading_.insert(slot);
  }
  read_ = snapshot;
  read_by_ = now + journal_.settings().snapshot_timeout;
}

void Rescaling::has_read(Slot slot, SnapshotId snapshot) {
  if (read_ == snapshot) reading_.erase(slot);
}

std::optional<Time> Rescaling::next_deadline() const {
  if (!under_way() || reading_.empty()) return std::nullopt;
  return read_by_;
}

// ---- how it ends -----------------------------------------------------------------------------

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
  if (read_) {
    for (Slot slot = 0; slot < members_.active(); ++slot) {
      if (members_[slot].state() != Member::State::joined) continue;
      members_.send(slot, runtime::ReadAhead{journal_.metadata().epoch, 0, {}, {}});
    }
  }
  forget_reading();
  let_go(now);
  return true;
}

bool Rescaling::failed(const std::string& why, Time now) {
  forget_reading();
  return under_way() && ++failures_ == failures_max && give_up(why, now);
}

void Rescaling::let_go(Time now) {
  for (Slot slot = members_.active(); slot < members_.size(); ++slot) {
    members_.let_go(slot, now + let_go_wait);
    detector_.forget(slot);
  }
}

}  // namespace piracema::cluster
