#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "control/coordinator/members/journal.h"
#include "control/coordinator_events.h"
#include "control/user_request.h"

namespace piracema::cluster {

/// A savepoint that a user wants of a job that runs: the next snapshot that has no items under way
/// gets the name, and it is taken at once. Not part of what is true of the job: whoever takes it
/// over has to be asked again.
class SavepointTaking {
 public:
  explicit SavepointTaking(Journal& journal) : journal_(journal) {}

  /// The answer has no id.
  AnswerRequest begin(const SavepointRequest& request, Time now);
  /// A snapshot is to be taken for it.
  bool due() const { return state_ == State::waits; }
  /// The name is being written. It is heard of that, whatever happens to the job.
  bool naming() const { return state_ == State::naming; }

  // ---- what happens to snapshots --------------------------------------------------------------

  /// It gets the name if it can have no items under way, whatever else it is for.
  void snapshot_begun(SnapshotId id, SnapshotPurpose purpose);
  void snapshot_completed(SnapshotId id);
  /// It was given up for something else that happened: the next one gets the name.
  void snapshot_given_up(SnapshotId id);
  /// It failed itself.
  void snapshot_failed(SnapshotId id, const std::string& why, Time now);
  /// There will be none for it. Of a name that is being written is heard later.
  void give_up(const std::string& why, Time now);

  void named(const SnapshotNamed& named, Time now);
  void not_named(const SnapshotNotNamed& failed, Time now);

 private:
  void fail(const std::string& why, Time now);

  Journal& journal_;
  enum class State { none, waits, taking, naming } state_ = State::none;
  std::string name_;
  SnapshotId snapshot_ = 0;
  Time asked_{};
};

}  // namespace piracema::cluster
