#pragma once

#include <piracema/smr/figures.h>

#include <optional>

#include "base/clock.h"
#include "smr/ids.h"

namespace piracema::smr {

/// Counts what a replica does, for ReplicaFigures. Pure; times do not go back.
class WorkCount {
 public:
  void executed(std::size_t operations) { ordered_ += operations; }
  void read() { reads_ += 1; }
  void follows(Time time, ReplicaId leader);
  /// One is taken at a time.
  void checkpoint_begun(Time time) { begun_ = time; }
  /// It is kept.
  void checkpoint_taken(Time time, std::uint64_t bytes);

  /// The counts, and nothing else.
  ReplicaFigures figures(Time time) const;

 private:
  std::uint64_t ordered_ = 0, reads_ = 0;
  std::optional<ReplicaId> leader_;
  Time follows_since_{};
  std::uint64_t leader_changes_ = 0;
  Time begun_{}, taken_{}, took_{};
  std::uint64_t checkpoints_ = 0, bytes_ = 0;
};

}  // namespace piracema::smr
