#pragma once

#include <array>

namespace piracema::cluster {

/// Where a job is.
enum class Phase {
  gathering,  ///< Processes start, or are replaced; until all have joined nothing runs.
  attaching,  ///< The job was taken over and runs: until all its workers are found they are waited
              ///< for.
  restoring,  ///< Deploy was sent: all load the same snapshot, or the beginning, and begin.
  running,    ///< All have said that they are ready.
  ending,     ///< Every replica has ended: the last snapshot is taken, sinks commit.
  stopping,   ///< The user wants to stop: the last snapshot is taken, sinks commit.
  leaving,    ///< Processes end.
  finished,
};
inline constexpr std::array phases = {Phase::gathering, Phase::attaching, Phase::restoring,
                                      Phase::running,   Phase::ending,    Phase::stopping,
                                      Phase::leaving,   Phase::finished};

/// Whether the workers have work that a loss would undo.
constexpr bool is_active(Phase phase) {
  return phase == Phase::running || phase == Phase::ending || phase == Phase::stopping;
}
/// Whether there is an epoch: what workers say of it counts.
constexpr bool is_deployed(Phase phase) {
  return is_active(phase) || phase == Phase::restoring || phase == Phase::attaching;
}

constexpr const char* name_of(Phase phase) {
  switch (phase) {
    case Phase::gathering:
      return "gathering";
    case Phase::attaching:
      return "attaching";
    case Phase::restoring:
      return "restoring";
    case Phase::running:
      return "running";
    case Phase::ending:
      return "ending";
    case Phase::stopping:
      return "stopping";
    case Phase::leaving:
      return "leaving";
    case Phase::finished:
      return "finished";
  }
  return "?";
}

}  // namespace piracema::cluster
