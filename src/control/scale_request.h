#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/coordinator_job.h"
#include "control/coordinator_settings.h"
#include "control/decision.h"

namespace piracema::cluster {

/// What a user wants of a job that runs: other numbers of replicas, of processes, or both.
struct ScaleRequest {
  /// Operators and how many replicas each is to have.
  std::vector<std::pair<std::string, std::uint32_t>> replicas;
  /// How many processes; none: as many as there are.
  std::optional<std::uint32_t> slots;
};

/// "count: 2 -> 3 replicas, 2 -> 3 workers"; empty if nothing would change.
std::string text_of_change(const GraphShape& before, std::uint32_t slots_before,
                           const GraphShape& after, std::uint32_t slots_after);

/// The plan that is to follow; nothing if that is the one that the job has. Errc::config with a
/// sentence for what cannot be: an operator that the job does not have, one whose replicas are not
/// free to change (state::compare), more replicas than groups of keys, processes that nobody can
/// start, a job that takes no snapshots or whose replicas were placed by hand.
Result<std::optional<ScaleBegun>> plan_scale(const Job& job, const JobSettings& settings,
                                             const ScaleRequest& request);

}  // namespace piracema::cluster
