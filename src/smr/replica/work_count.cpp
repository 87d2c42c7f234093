#include "smr/replica/work_count.h"

namespace piracema::smr {

void WorkCount::follows(Time time, ReplicaId leader) {
  if (leader_ == leader) return;
  if (leader_) leader_changes_ += 1;
  leader_ = leader;
  follows_since_ = time;
}

void WorkCount::checkpoint_taken(Time time, std::uint64_t bytes) {
  checkpoints_ += 1;
  taken_ = time;
  took_ = time - begun_;
  bytes_ = bytes;
}

ReplicaFigures WorkCount::figures(Time time) const {
  ReplicaFigures figures;
  if (leader_) figures.leader_for = time - follows_since_;
  figures.leader_changes = leader_changes_;
  figures.ordered = ordered_;
  figures.reads = reads_;
  figures.checkpoints = checkpoints_;
  if (checkpoints_ == 0) return figures;
  figures.checkpoint_age = time - taken_;
  figures.checkpoint_took = took_;
  figures.checkpoint_bytes = bytes_;
  return figures;
}

}  // namespace piracema::smr
