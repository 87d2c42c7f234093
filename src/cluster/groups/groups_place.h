#pragma once

#include <piracema/error.h>
#include <piracema/graph.h>

#include <string>
#include <vector>

#include "base/ids.h"
#include "cluster/groups/groups_file.h"
#include "flow/placement.h"

namespace piracema::cluster {

/// The place of every replica: the number of its group in the file. Errc::config if the groups of
/// the program break a rule, or are not those of the file. A program without groups is spread over
/// those of the file, by itself, with few items between hosts: by an earlier run, if there was one.
Result<std::vector<Slot>> place_groups(const std::string& file, const GroupsFile& groups,
                                       const GraphShape& shape, const std::vector<GroupShape>& made,
                                       const flow::EarlierRun& earlier = {});

}  // namespace piracema::cluster
