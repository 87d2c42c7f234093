#include "state/restored_part.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
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

bool overlap(const GroupRange& a, const GroupRange& b) {
  return a.first < b.end && b.first < a.end;
}

}  // namespace

Result<RestoredPart> read_part(store::SnapshotStore& store, SnapshotId snapshot,
                               const GraphShape& shape, const flow::ReplicaPlan& replica) {
  auto manifest = store.manifest(snapshot);
  if (!manifest) return manifest.error();
  const auto former = former_replicas(*manifest, shape, replica.node);
  if (!former) return former.error();
  // Those of one node had all ended, or none: they have the same inputs.
  const bool as_many = former->count == shape.nodes[replica.node].replicas;
  auto own = part_of(*manifest, former->first + (as_many ? replica.index : 0));
  if (!own) return own.error();
  auto plain = store.get(snapshot, *own);
  if (!plain) return plain.error();
  RestoredPart restored{*std::move(plain), {}};
  if (!shape.nodes[replica.node].keyed) return restored;

  for (std::uint32_t index = 0; index < former->count; ++index) {
    if (!overlap(replica.groups.range_of(index, former->count), replica.owned)) continue;
    auto part = part_of(*manifest, former->first + index);
    if (!part) return part.error();
    auto of = store.index(snapshot, *part);
    if (!of) return of.error();
    if (of->key_groups != replica.groups.count()) {
      return Error{Errc::corrupt,
                   concat("snapshot ", snapshot, ", part of replica ", part->replica, ": want ",
                          replica.groups.count(), " key groups, found ", of->key_groups)};
    }
    std::copy_if(of->units.begin(), of->units.end(), std::back_inserter(restored.units),
                 [&](const store::StateUnit& unit) { return replica.owned.has(unit.group); });
  }
  return restored;
}

}  // namespace piracema::state
