// How a job ends: its processes leave, or are ended.
#include <utility>

#include "base/text.h"
#include "control/coordinator.h"

namespace piracema::cluster {

namespace {
constexpr milliseconds leave_timeout{5'000};
}  // namespace

// What is rolled back is worth nothing, so without work to save the last snapshot is the end.
void Coordinator::leave_stopped() {
  if (settings_.snapshots && restore_) {
    leave(75, concat("stopped with snapshot ", *restore_, "; go on with --resume"));
  } else if (settings_.snapshots) {
    leave(143, "stopped before the first snapshot: nothing was saved");
  } else {
    leave(143, "stopped without snapshots: nothing was saved");
  }
}

void Coordinator::leave(int code, std::string why) {
  finish_ = Finish{code, std::move(why)};
  phase_ = Phase::leaving;
  leave_by_ = now_ + leave_timeout;
  for (Slot slot = 0; slot < members_.size(); ++slot) {
    Member& member = members_[slot];
    if (member.state() == Member::State::joined) {
      send(slot, runtime::Shutdown{static_cast<std::uint32_t>(code), ""});
    } else if (member.state() == Member::State::starting && settings_.can_spawn) {
      act(Kill{slot, member.incarnation()});
      member.end(leave_by_);
    }
  }
}

void Coordinator::finish_when_all_left() {
  const bool late = now_ >= leave_by_;
  for (Slot slot = 0; slot < members_.size() && settings_.can_spawn; ++slot) {
    Member& member = members_[slot];
    if (member.state() == Member::State::absent) continue;
    if (!late) return;
    act(Kill{slot, member.incarnation()});
  }
  phase_ = Phase::finished;
}

void Coordinator::fail(int code, std::string why) {
  for (Slot slot = 0; slot < members_.size(); ++slot) {
    const Member& member = members_[slot];
    if (!settings_.can_spawn) {
      send(slot, runtime::Shutdown{static_cast<std::uint32_t>(code), ""});
    } else if (member.state() != Member::State::absent) {
      act(Kill{slot, member.incarnation()});
    }
  }
  finish_ = Finish{code, std::move(why)};
  phase_ = Phase::finished;
}

}  // namespace piracema::cluster
