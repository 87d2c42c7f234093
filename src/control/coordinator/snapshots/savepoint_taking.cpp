#include "control/coordinator/snapshots/savepoint_taking.h"

#include "base/text.h"
#include "control/snapshot_book.h"

namespace piracema::cluster {

AnswerRequest SavepointTaking::begin(const SavepointRequest& request, Time now) {
  if (!journal_.settings().snapshots) {
    return {.why = "the job takes no snapshots: it was started without --snapshots DIR"};
  }
  if (state_ != State::none) {
    return {.later = true, .why = concat("savepoint '", name_, "' is being taken")};
  }
  name_ = request.name;
  asked_ = now;
  state_ = State::waits;
  journal_.tell(SavepointBegun{name_});
  return {.accepted = true};
}

void SavepointTaking::snapshot_begun(SnapshotId id, SnapshotPurpose purpose) {
  if (state_ != State::waits || may_overtake(purpose)) return;
  state_ = State::taking;
  snapshot_ = id;
}

void SavepointTaking::snapshot_completed(SnapshotId id) {
  if (state_ != State::taking || snapshot_ != id) return;
  state_ = State::naming;
  journal_.act(NameSnapshot{snapshot_, name_});
}

void SavepointTaking::snapshot_given_up(SnapshotId id) {
  if (state_ == State::taking && snapshot_ == id) state_ = State::waits;
}

void SavepointTaking::snapshot_failed(SnapshotId id, const std::string& why, Time now) {
  if (state_ == State::taking && snapshot_ == id) fail(why, now);
}

void SavepointTaking::give_up(const std::string& why, Time now) {
  if (state_ == State::waits || state_ == State::taking) fail(why, now);
}

void SavepointTaking::named(const SnapshotNamed& named, Time now) {
  if (state_ != State::naming || named.snapshot != snapshot_) return;
  state_ = State::none;
  journal_.tell(SavepointEnded{name_, snapshot_, "", now - asked_});
}

void SavepointTaking::not_named(const SnapshotNotNamed& failed, Time now) {
  if (state_ == State::naming && failed.snapshot == snapshot_) fail(failed.why, now);
}

void SavepointTaking::fail(const std::string& why, Time now) {
  state_ = State::none;
  journal_.tell(SavepointEnded{name_, std::nullopt, why, now - asked_});
}

}  // namespace piracema::cluster
