#pragma once

#include <cstdint>
#include <vector>

#include "control/coordinator_job.h"
#include "control/messages/control.h"

namespace piracema::cluster {

/// What each replica has done since the last Deploy, as far as its worker has said. Not part of
/// what is true of a job: whoever takes it over hears it anew.
class EpochProgress {
 public:
  /// All replicas of the job begin.
  void begin(const Job& job);
  /// The job goes on with other replicas.
  void clear();

  /// A worker may speak of its own replicas alone; what it says of others does not count.
  void heard(const Job& job, Slot slot, const std::vector<runtime::Progress>& said);
  /// A replica of the job has saved after sending that many items: heartbeats lag behind.
  void saved(ReplicaId replica, std::uint64_t emitted);
  /// A sink got an item. True for the first one of all.
  bool first_output();
  bool item_is_out() const { return item_out_; }

  /// By replica.
  const std::vector<runtime::Progress>& replicas() const { return replicas_; }
  /// Items that the sources have sent.
  std::uint64_t emitted() const;

 private:
  std::vector<runtime::Progress> replicas_;
  std::vector<ReplicaId> sources_;
  bool item_out_ = false;
};

}  // namespace piracema::cluster
