#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace piracema::observe {

/// The process that decides for a job: its coordinator.
struct CoordinatorFacts {
  /// Of the cluster's node that it runs on (PIRACEMA_NODE), else of the machine.
  std::string host;
  std::uint64_t pid = 0;
  /// Since when it is, in seconds since 1970.
  double since = 0;
};

/// What does not change while a job runs.
struct JobFacts {
  std::vector<std::string> command;
  std::string version;
  /// Of the machine that the coordinator runs on.
  unsigned cores = 1;
  std::uint32_t workers = 1;
  /// Whether snapshots are taken, and the time between two of them.
  bool snapshots = false;
  Time snapshot_interval{};
  /// When it began, in seconds since 1970.
  double started_at = 0;
  CoordinatorFacts coordinator;
  /// For people: a name and a value each.
  std::vector<std::pair<std::string, std::string>> settings;
};

/// Of a job that begins now, driven by this process: version, cores, time.
JobFacts facts_of_this_process();
/// This process decides for the job from now on.
CoordinatorFacts coordinator_from_now_on();
/// With which it was started.
std::vector<std::string> command_of_this_process();

}  // namespace piracema::observe
