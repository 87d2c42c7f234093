#pragma once

#include <piracema/error.h>
#include <piracema/graph.h>

#include <map>
#include <string>
#include <vector>

#include "base/ids.h"
#include "cluster/groups/groups_file.h"

namespace piracema::cluster {

/// The place of every replica: the number of its group in the file. Errc::config if the groups of
/// the program break a rule, or are not those of the file. A program without groups is spread over
/// those of the file, by itself: by how long its nodes were `busy` (JobSettings), if that is known.
Result<std::vector<Slot>> place_groups(const std::string& file, const GroupsFile& groups,
                                       const GraphShape& shape, const std::vector<GroupShape>& made,
                                       const std::map<std::string, double>& busy = {});

}  // namespace piracema::cluster
