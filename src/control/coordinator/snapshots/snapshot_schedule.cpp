#include "control/coordinator/snapshots/snapshot_schedule.h"

#include <algorithm>

#include "base/text.h"

namespace piracema::cluster {

void SnapshotSchedule::put_off_until(Time at) { next_ = std::max(next_, at); }

bool SnapshotSchedule::may_move(Phase phase) const {
  return phase == Phase::running && moves_.due() && !rescaling_.under_way();
}

std::optional<SnapshotPurpose> SnapshotSchedule::due(Phase phase, Time now) {
  if (phase == Phase::stopping) return SnapshotPurpose::stop;
  using Next = Rescaling::Next;
  const Next next = phase == Phase::running ? rescaling_.next(now) : Next::nothing;
  if (next == Next::hold) return SnapshotPurpose::scale;
  if (phase == Phase::running && savepoint_.due()) return SnapshotPurpose::savepoint;
  if (next == Next::snapshot) return SnapshotPurpose::interval;
  // Another one could take the place of what is being read.
  if (next == Next::read) return std::nullopt;
  const bool moves = may_move(phase);
  if (now < next_ && !(moves && moves_.soon())) return std::nullopt;
  if (phase == Phase::ending) return SnapshotPurpose::final;
  return moves ? SnapshotPurpose::move : SnapshotPurpose::interval;
}

void SnapshotSchedule::take_due(const Job& job, Phase phase, Time now) {
  const auto purpose = due(phase, now);
  if (!purpose) return;
  if (*purpose == SnapshotPurpose::scale) rescaling_.pause(now);
  savepoint_.snapshot_begun(journal_.metadata().snapshots.next_id(), *purpose);
  snapshots_.begin(job, *purpose, now);
  next_ = now + journal_.settings().snapshot_interval;
}

void SnapshotSchedule::failed(SnapshotId id, SnapshotPurpose purpose, const std::string& why,
                              Time now) {
  const std::string told = concat("its snapshot failed: ", why);
  savepoint_.snapshot_failed(id, told, now);
  if (purpose == SnapshotPurpose::scale) scale_failed(told, now);
  if (purpose == SnapshotPurpose::interval) rescaling_.snapshot_failed();
  if (purpose == SnapshotPurpose::move) moves_.failed();
  if (holds_sources(purpose)) plan(now);  // Whichever is next lets them go on.
}

void SnapshotSchedule::give_up_scale(const std::string& why, Time now) {
  if (rescaling_.give_up(why, now)) plan(now);
}

void SnapshotSchedule::scale_failed(const std::string& why, Time now) {
  if (rescaling_.failed(why, now)) plan(now);
}

std::optional<Time> SnapshotSchedule::next_deadline(Phase phase) const {
  const auto read_by = phase == Phase::running ? rescaling_.next_deadline() : std::nullopt;
  auto next = snapshots_.late_at();
  const bool may_begin = !snapshots_.under_way() && !journal_.metadata().last_commit &&
                         phase != Phase::stopping && !read_by;
  if (may_begin) next = next_;
  if (read_by && (!next || *read_by < *next)) next = read_by;
  return next;
}

}  // namespace piracema::cluster
