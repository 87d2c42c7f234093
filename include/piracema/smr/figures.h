#pragma once

#include <piracema/smr/status.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace piracema::smr {

/// What a replica of this process knows of itself and of the others: for people and for monitoring,
/// and no proof of anything. What is counted is since the process began.
struct ReplicaFigures {
  struct Member {
    std::uint32_t id = 0;
    std::string address;
    /// Always of this replica itself.
    bool connected = false;
    /// The newest instance that it has voted in, or has said to have decided; of this replica
    /// itself the last one up to which all are decided. 0: nothing was heard of it yet.
    std::uint64_t newest = 0;
  };

  /// As others are told who ask; its address is the one of the configuration.
  ReplicaStatus own;
  /// Of the view that rules, by their number.
  std::vector<Member> members;
  /// So many members have to take part.
  std::uint32_t quorum = 0;
  /// Whether this replica leads, and its regency has begun.
  bool leads = false;
  /// How long it has followed `own.leader`, and how often that has changed.
  std::chrono::nanoseconds leader_for{};
  std::uint64_t leader_changes = 0;
  /// Operations that were ordered and handed out to be executed, and reads that were not ordered.
  std::uint64_t ordered = 0, reads = 0;
  /// Requests that wait to be ordered.
  std::uint64_t waiting = 0;
  /// Checkpoints that are kept; how long ago the last one was, how long it took and how large it
  /// is.
  std::uint64_t checkpoints = 0;
  std::chrono::nanoseconds checkpoint_age{}, checkpoint_took{};
  std::uint64_t checkpoint_bytes = 0;
};

}  // namespace piracema::smr
