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
                       WhereKeysLie& found) {
  for (const GroupRange& groups : wanted) {
    auto units = store::units_of(store, file, index, groups);
    if (!units) return units.error();
    found.units.insert(found.units.end(), units->begin(), units->end());
    if (index.version == 2) continue;
    std::vector<store::NamedFile> files = index.files;
    files.push_back({file, groups, store::seal(index.units)});
    for (store::NamedFile& named : files) {
      named.groups = common(groups, named.groups);
      if (named.groups.count() != 0) found.files.push_back(named);
    }
  }
  return Done{};
}

}  // namespace

Result<RestoredPart> read_part(store::SnapshotStore& store, SnapshotId snapshot,
                               const GraphShape& shape, const flow::ReplicaPlan& replica,
                               const std::vector<GroupRange>& there) {
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
  restored.layout = layout_of(*manifest, shape, replica.node);
  if (!shape.nodes[replica.node].keyed) return restored;

  std::vector<GroupRange> missing{replica.owned};
  for (const GroupRange& have : there) {
    std::vector<GroupRange> rest;
    for (const GroupRange& range : missing) {
      for (const GroupRange& left : rest_of(range, have)) rest.push_back(left);
    }
    missing = std::move(rest);
  }
  auto keys = find_keys(store, *manifest, shape, replica, missing);
  if (!keys) return keys.error();
  restored.keys = *std::move(keys);
  return restored;
}

std::string layout_of(const store::Manifest& manifest, const GraphShape& shape,
                      std::uint32_t node) {
  const auto layout = manifest.layouts.find(shape.nodes[node].name);
  return layout == manifest.layouts.end() ? "" : layout->second;
}

Result<WhereKeysLie> find_keys(store::SnapshotStore& store, const store::Manifest& manifest,
                               const GraphShape& shape, const flow::ReplicaPlan& replica,
                               const std::vector<GroupRange>& groups) {
  WhereKeysLie keys;
  const auto former = former_replicas(manifest, shape, replica.node);
  if (!former) return keys;
  for (std::uint32_t index = 0; index < former->count; ++index) {
    std::vector<GroupRange> wanted;
    for (const GroupRange& range : groups) {
      const GroupRange here = common(range, replica.groups.range_of(index, former->count));
      if (here.count() != 0) wanted.push_back(here);
    }
    if (wanted.empty()) continue;
    auto part = part_of(manifest, former->first + index);
    if (!part) return part.error();
    auto of = store.index(manifest.snapshot, *part);
    if (!of) return of.error();
    if (of->key_groups != replica.groups.count()) {
      return Error{Errc::corrupt, concat("snapshot ", manifest.snapshot, ", part of replica ",
                                         part->replica, ": want ", replica.groups.count(),
                                         " key groups, found ", of->key_groups)};
    }
    const store::PartFile file{manifest.snapshot, part->replica};
    if (auto added = add_units(store, file, *of, wanted, keys); !added) return added.error();
  }
  return keys;
}

}  // namespace piracema::state
