#include "cluster/groups/groups_check.h"

#include <algorithm>

#include "base/text.h"

namespace piracema::cluster {

namespace {

// Of two edges that say the same of the same groups one would be for nothing.
void check_only_one(JsonReader& reader, const GroupsFile& all, const PairSettings& pair) {
  for (const PairSettings* other = all.edges.data(); other != &pair; ++other) {
    const bool forth = other->from == pair.from && other->to == pair.to;
    const bool back = other->from == pair.to && other->to == pair.from;
    if (forth || (back && other->protocol && pair.protocol)) {
      reader.fail(pair.place, "one edge for two groups",
                  concat("'", pair.from, "' to '", pair.to, "' again"));
    }
  }
}

void check_names(JsonReader& reader, const GroupsFile& all) {
  for (std::size_t i = 0; i < all.groups.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (all.groups[k].name != all.groups[i].name) continue;
      reader.fail(all.groups[i].place, "each group once",
                  concat("'", all.groups[i].name, "' again"));
    }
  }
  for (const PairSettings& pair : all.edges) {
    for (const std::string& name : {pair.from, pair.to}) {
      const bool known =
          std::any_of(all.groups.begin(), all.groups.end(),
                      [&](const GroupSettings& group) { return group.name == name; });
      if (!known && !name.empty()) {
        reader.fail(pair.place, "groups of this file in an edge", concat("'", name, "'"));
      }
    }
    if (pair.from == pair.to) reader.fail(pair.place, "two groups in an edge", "one");
    check_only_one(reader, all, pair);
  }
}

// mpirun starts all groups or none.
void check_mpi(JsonReader& reader, const GroupsFile& all) {
  if (all.protocol == Protocol::mpi) return;
  for (const GroupSettings& group : all.groups) {
    if (group.protocol == Protocol::mpi) {
      reader.fail(group.place, "\"protocol\": \"MPI\" for the whole file",
                  "a group that has it alone");
    }
  }
  for (const PairSettings& pair : all.edges) {
    if (pair.protocol == Protocol::mpi) {
      reader.fail(pair.place, "\"protocol\": \"MPI\" for the whole file",
                  "an edge that has it alone");
    }
  }
}

}  // namespace

void check_groups_file(JsonReader& reader, const GroupsFile& all) {
  check_names(reader, all);
  check_mpi(reader, all);
}

}  // namespace piracema::cluster
