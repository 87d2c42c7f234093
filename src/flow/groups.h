#pragma once

#include <piracema/graph.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/engine.h"
#include "flow/plan.h"

namespace piracema::flow {

/// Which group each replica of a plan is in, by the numbers of `groups`.
///
/// Checks all that paper 004, Fig. 6, wants of createGroup, of `<<` and of what is run; an error
/// (Errc::config) names the group, the brick and the rule. Where we allow more: a farm may be cut
/// into several groups, and single replicas may be included in a group that was made of more than
/// their node. Where we want more: every replica is in some group.
Result<std::vector<std::uint32_t>> check_groups(const GraphShape& shape, const Plan& plan,
                                                const std::vector<GroupShape>& groups);

}  // namespace piracema::flow
