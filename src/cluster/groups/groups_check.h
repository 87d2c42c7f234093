#pragma once

#include "base/json_reader.h"
#include "cluster/groups/groups_file.h"

namespace piracema::cluster {

/// What a file says must fit together: each group once, edges between two groups of the file and
/// one for the same two, and MPI for all or for none. `reader` is told what does not.
void check_groups_file(JsonReader& reader, const GroupsFile& all);

}  // namespace piracema::cluster
