#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/clock.h"
#include "base/ids.h"
#include "control/messages/control.h"

namespace piracema::cluster {

/// How long each replica has been at the same item, as its heartbeats tell. Only time with
/// heartbeats counts: while the process or the coordinator does not run nothing is known.
class BusyWatch {
 public:
  struct Busy {
    /// None: it opens, finishes or commits.
    std::optional<std::uint64_t> item;
    Time since{};
    /// Long enough for people to be told, and not told yet. What is told of a replica doubles each
    /// time: one whose items take long is told of once.
    bool tell = false;
  };

  /// Two heartbeats are never further from each other than `apart`; people are told after
  /// `tell_after`.
  BusyWatch(Time apart, Time tell_after) : apart_(apart), tell_after_(tell_after) {}

  /// All begin anew.
  void clear() { replicas_.clear(); }
  /// What a heartbeat says of a replica; nothing if that is not at work.
  std::optional<Busy> heard(Time now, const runtime::Progress& progress);

 private:
  struct Replica {
    runtime::Progress latest;
    Time heard_at{};
    Time busy{};
    Time tell_at{};
  };

  Time apart_, tell_after_;
  std::map<ReplicaId, Replica> replicas_;
};

}  // namespace piracema::cluster
