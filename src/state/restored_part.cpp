#include "state/restored_part.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "state/group_ranges.h"
#include "state/redistribution.h"

namespace piracema::state {

namespace {

Result<store::Part> part_of(const store::Manifest& manifest, ReplicaId replica) {
  const auto part = std::find_if(manifest.parts.begin(), manifest.parts.end(),
                                 [&](const store::Part& p) { return p.replica == replica; });
  if (part != manifest.parts.end()) return *part;
  return Error{Errc::corrupt,
               concat("snapshot ", manifest.snapshot, " has no part of replica ", replica)};
}

// All that one former replica has of these groups.
Result<Done> add_units(store::SnapshotStore& store, const store::PartFile& file,
                       const store::PartIndex& index, const std::vector<GroupRange>& wanted,
                       RestoredPart& restored) {
  for (const GroupRange& groups : wanted) {
    auto units = store::units_of(store, file, index, groups);
    if (!units) return units.error();
    restored.units.insert(restored.units.end(), units->begin(), units->end());
    if (index.version == 2) continue;
    std::vector<store::NamedFile> files = index.files;
    files.push_back({file, groups, store::seal(index.units)});
    for (store::NamedFile& named : files) {
      named.groups = common(groups, named.groups);
      if (named.groups.count() != 0) restored.files.push_back(named);
    }
  }
  return Done{};
}

}  // namespace

Result<RestoredPart> read_part(store::SnapshotStore& store, SnapshotId snapshot,
                               const GraphShape& shape, const flow::ReplicaPlan& replica,
                               GroupRange kept) {
  auto manifest = store.manifest(snapshot);
  if (!manifest) return manifest.error();
  const auto former = former_replicas(*manifest, shape, replica.node);
  if (!former) return RestoredPart{};
  // Those of one node had all ended, or none: they have the same inputs.
  const bool as_many = former->count == shape.nodes[replica.node].replicas;
  auto own = part_of(*manifest, former->first + (as_many ? replica.index : 0));
  if (!own) return own.error();
  auto plain = store.get(snapshot, *own);
  if (!plain) return plain.error();
  RestoredPart restored;
  restored.plain = *std::move(plain);
  const auto layout = manifest->layouts.find(shape.nodes[replica.node].name);
  if (layout != manifest->layouts.end()) restored.layout = layout->second;
  if (!shape.nodes[replica.node].keyed) return restored;

  for (std::uint32_t index = 0; index < former->count; ++index) {
    std::vector<GroupRange> wanted;
    for (const GroupRange& missing : rest_of(replica.owned, kept)) {
      const GroupRange groups = common(missing, replica.groups.range_of(index, former->count));
      if (groups.count() != 0) wanted.push_back(groups);
    }
    if (wanted.empty()) continue;
    auto part = part_of(*manifest, former->first + index);
    if (!part) return part.error();
    auto of = store.index(snapshot, *part);
    if (!of) return of.error();
    if (of->key_groups != replica.groups.count()) {
      return Error{Errc::corrupt,
                   concat("snapshot ", snapshot, ", part of replica ", part->replica, ": want ",
                          replica.groups.count(), " key groups, found ", of->key_groups)};
    }
    const store::PartFile file{snapshot, part->replica};
    if (auto added = add_units(store, file, *of, wanted, restored); !added) return added.error();
  }
  return restored;
}

}  // namespace piracema::state
