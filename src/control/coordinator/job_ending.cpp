#include "control/coordinator/job_ending.h"

#include <utility>

#include "base/text.h"

namespace piracema::cluster {

namespace {
constexpr milliseconds leave_timeout{5'000};
constexpr std::uint32_t final_retries = 3;
}  // namespace

void JobEnding::commit(const Job& job, SnapshotId id, bool last) {
  const auto sinks = job.sinks();
  if (last) {
    journal_.decide(LastCommitBegun{id});
    uncommitted_ = {sinks.begin(), sinks.end()};
  }
  members_.send_by_slot(job, sinks, [&](const auto& hosted) {
    return runtime::Commit{journal_.metadata().epoch, id, hosted};
  });
}

void JobEnding::committed(const runtime::Committed& committed) {
  if (journal_.metadata().last_commit == committed.snapshot) uncommitted_.erase(committed.replica);
}

void JobEnding::resume(const Job& job) {
  const auto& last = journal_.metadata().last_commit;
  const auto id = last ? last : journal_.metadata().snapshots.newest();
  if (!id) return;
  const auto sinks = job.sinks();
  if (last) uncommitted_ = {sinks.begin(), sinks.end()};
  members_.send_by_slot(job, sinks, [&](const auto& hosted) {
    return runtime::Commit{journal_.metadata().epoch, *id, hosted};
  });
}

bool JobEnding::may_be_unsaved() const {
  return journal_.metadata().final_failures > final_retries;
}

void JobEnding::end(int code, std::string why) {
  journal_.decide(JobEnded{static_cast<std::uint32_t>(code), std::move(why)});
}

void JobEnding::leave(int code, std::string why, Time now) {
  end(code, std::move(why));
  resume_leaving(now);
}

void JobEnding::resume_leaving(Time now) {
  leave_by_ = now + leave_timeout;
  for (Slot slot = 0; slot < members_.size(); ++slot) {
    const auto state = members_[slot].state();
    if (state == Member::State::joined) {
      send_off(slot);
    } else if (state == Member::State::starting && journal_.settings().can_spawn) {
      members_.end(slot, leave_by_);
    }
  }
}

void JobEnding::send_off(Slot slot) {
  members_.send(slot, runtime::Shutdown{journal_.metadata().end->code, ""});
}

void JobEnding::leave_done(Time now) {
  leave(0, may_be_unsaved() ? "done, although the last snapshot could not be taken" : "", now);
}

void JobEnding::leave_stopped(Time now) {
  const auto snapshot = journal_.metadata().snapshots.newest();
  if (journal_.settings().snapshots && snapshot) {
    leave(75, concat("stopped with snapshot ", *snapshot, "; go on with --resume"), now);
  } else if (journal_.settings().snapshots) {
    leave(143, "stopped before the first snapshot: nothing was saved", now);
  } else {
    leave(143, "stopped without snapshots: nothing was saved", now);
  }
}

void JobEnding::fail(int code, std::string why) {
  end(code, std::move(why));
  for (Slot slot = 0; slot < members_.size(); ++slot) {
    if (!journal_.settings().can_spawn) {
      send_off(slot);
    } else if (members_[slot].state() != Member::State::absent) {
      members_.kill(slot);
    }
  }
}

bool JobEnding::all_left(Time now) {
  if (!journal_.settings().can_spawn) return true;
  const bool late = now >= leave_by_;
  for (Slot slot = 0; slot < members_.size(); ++slot) {
    if (members_[slot].state() == Member::State::absent) continue;
    if (!late) return false;
    members_.kill(slot);
  }
  return true;
}

Finish JobEnding::finish() const {
  const JobEnded& end = *journal_.metadata().end;
  return {static_cast<int>(end.code), end.why};
}

}  // namespace piracema::cluster
