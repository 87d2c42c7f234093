#include "store/snapshot/snapshot_store.h"

#include <algorithm>

namespace piracema::store {

Result<Manifest> verify(SnapshotStore& store, SnapshotId snapshot) {
  auto manifest = store.manifest(snapshot);
  if (!manifest) return manifest;
  for (const Part& part : manifest->parts) {
    if (auto state = store.get(snapshot, part); !state) return state.error();
  }
  return manifest;
}

Result<std::optional<Manifest>> newest_intact(SnapshotStore& store, std::vector<Error>& refused) {
  auto snapshots = store.list();
  if (!snapshots) return snapshots.error();
  std::reverse(snapshots->begin(), snapshots->end());
  std::optional<Error> other_version;
  for (const SnapshotId snapshot : *snapshots) {
    auto manifest = verify(store, snapshot);
    if (manifest) return std::optional<Manifest>(*std::move(manifest));
    // A flipped bit can look like another version, so that does not end the search either.
    if (manifest.error().code == Errc::refused && !other_version) other_version = manifest.error();
    refused.push_back(manifest.error());
  }
  if (other_version) return *other_version;
  return std::optional<Manifest>();
}

}  // namespace piracema::store
