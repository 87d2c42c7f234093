#include "store/snapshot/snapshot_store.h"

#include <algorithm>

#include "base/hex.h"
#include "base/text.h"
#include "wire/checksum.h"

namespace piracema::store {

Result<Part> SnapshotStore::put_indexed(SnapshotId snapshot, ReplicaId replica, Bytes data,
                                        const PartIndex& index) {
  auto part = begin_part(snapshot, replica);
  if (!part) return part.error();
  if (auto appended = (*part)->append(data); !appended) return appended.error();
  return (*part)->finish(index);
}

namespace {

bool has_name(const Savepoints& savepoints, SnapshotId snapshot) {
  return std::any_of(savepoints.begin(), savepoints.end(),
                     [&](const auto& named) { return named.second == snapshot; });
}

}  // namespace

// Who cannot read its manifest cannot restore it either.
Result<std::set<PartFile>> SnapshotStore::needed() {
  auto all = list();
  if (!all) return all.error();
  std::set<PartFile> files;
  for (const SnapshotId snapshot : *all) {
    const auto of = manifest(snapshot);
    if (!of && of.error().code != Errc::corrupt) return of.error();
    if (!of) continue;
    for (const Part& part : of->parts) files.insert(part.files.begin(), part.files.end());
  }
  return files;
}

// Who names a snapshot and who drops it do not wait for each other: each writes what the other one
// looks for, and looks then. So one of them at least sees the other: a name that was there before
// the look keeps the snapshot; one that comes later finds it released, and is taken back.
Result<Done> SnapshotStore::drop(SnapshotId snapshot) {
  const auto complete = is_complete(snapshot);
  if (!complete) return complete.error();
  if (!*complete) {
    if (auto removed = remove(snapshot); !removed) return removed;
  } else if (auto released = set_released(snapshot, true); !released) {
    return released;
  }
  return drop_released();
}

Result<Done> SnapshotStore::drop_released() {
  const auto named = savepoints();
  if (!named) return named.error();
  const auto all = list();
  if (!all) return all.error();
  for (const SnapshotId snapshot : *all) {
    if (has_name(*named, snapshot)) continue;
    const auto released = is_released(snapshot);
    if (!released) return released.error();
    if (!*released) continue;
    if (auto removed = remove(snapshot); !removed) return removed;
  }
  return Done{};
}

Result<Done> SnapshotStore::reclaim(const std::vector<SnapshotId>& snapshots) {
  for (const SnapshotId snapshot : snapshots) {
    const auto released = is_released(snapshot);
    if (!released) return released.error();
    if (!*released) continue;
    if (auto done = set_released(snapshot, false); !done) return done;
  }
  return Done{};
}

Result<Done> SnapshotStore::add_savepoint(const std::string& name, SnapshotId snapshot) {
  if (auto fits = check_savepoint_name(name); !fits) return fits;
  if (ends_in_uuid(name)) {
    return Error{Errc::config, concat("the name of a savepoint: want none that ends in a UUID, as "
                                      "names do of what is still written, found '",
                                      name, "'")};
  }
  if (auto there = find(snapshot); !there) return there;
  const auto written = write_savepoint(name, snapshot);
  if (!written) {
    if (written.error().code != Errc::refused) return written;
    const auto all = savepoints();
    if (!all) return all.error();
    const auto found = all->find(name);
    if (found == all->end()) return written;  // Deleted since.
    if (found->second != snapshot) {
      return Error{Errc::refused, concat("savepoint '", name, "' is snapshot ", found->second,
                                         ": delete it first, or give another name")};
    }
  }
  // In this order: the mark goes after the manifest.
  const auto released = is_released(snapshot);
  const auto complete = is_complete(snapshot);
  if (released && !*released && complete && *complete) return Done{};
  // One that was there may be of somebody who was in time.
  const auto taken_back = written ? delete_savepoint(name) : Result<Done>(Done{});
  if (!taken_back && taken_back.error().code != Errc::not_found) return taken_back;
  if (!released) return released.error();
  if (!complete) return complete.error();
  return Error{Errc::refused,
               concat("snapshot ", snapshot,
                      " was dropped by its job, and may be going just now: name another one")};
}

Result<SnapshotId> find_savepoint(const Savepoints& savepoints, const std::string& name,
                                  const std::string& store) {
  const auto found = savepoints.find(name);
  if (found != savepoints.end()) return found->second;
  std::string there;
  for (const auto& each : savepoints) there += concat(there.empty() ? "" : ", ", each.first);
  return Error{Errc::not_found, concat(store, ": want savepoint '", name, "', found ",
                                       there.empty() ? "none" : there)};
}

Result<Manifest> verify(SnapshotStore& store, SnapshotId snapshot) {
  auto manifest = store.manifest(snapshot);
  if (!manifest) return manifest;
  for (const Part& part : manifest->parts) {
    if (auto state = store.get(snapshot, part); !state) return state.error();
    if (!part.indexed) continue;
    auto index = store.index(snapshot, part);
    if (!index) return index.error();
    auto units = units_of(store, {snapshot, part.replica}, *index, {0, index->key_groups});
    if (!units) return units.error();
    auto read = read_units(store, *std::move(units),
                           [](const StateUnit&, Bytes) -> Result<Done> { return Done{}; });
    if (!read) return read.error();
  }
  return manifest;
}

Result<std::vector<StateUnit>> units_of(SnapshotStore& store, const PartFile& own,
                                        const PartIndex& index, GroupRange groups) {
  std::vector<StateUnit> units;
  const auto take = [&](const PartIndex& from, GroupRange wanted) {
    std::copy_if(
        from.units.begin(), from.units.end(), std::back_inserter(units),
        [&](const StateUnit& unit) { return groups.has(unit.group) && wanted.has(unit.group); });
  };
  PartFile file;
  PartIndex of_file;
  for (const NamedFile& named : index.files) {
    if (named.groups.first >= groups.end || groups.first >= named.groups.end) continue;
    if (named.file != file) {
      auto read = store.index(named.file);
      if (!read) return read.error();
      of_file = *std::move(read);
      file = named.file;
    }
    const std::uint64_t found = of_file.version == index.version ? seal(of_file.units) : 0;
    if (found != named.seal || of_file.key_groups != index.key_groups) {
      return Error{
          Errc::corrupt,
          concat("snapshot ", own.snapshot, ", part of replica ", own.replica, ": want snapshot ",
                 file.snapshot, " of replica ", file.replica, " as it was (", to_hex(named.seal),
                 "), found another one (", to_hex(found), ")")};
    }
    take(of_file, named.groups);
  }
  take(index, groups);
  return units;
}

Result<Done> read_units(SnapshotStore& store, std::vector<StateUnit> units,
                        const std::function<Result<Done>(const StateUnit&, Bytes)>& use) {
  constexpr std::uint64_t run_bytes_max = std::uint64_t{4} << 20;
  std::sort(units.begin(), units.end(), [](const StateUnit& a, const StateUnit& b) {
    return std::pair(a.file, a.offset) < std::pair(b.file, b.offset);
  });
  for (std::size_t first = 0; first < units.size();) {
    const std::uint64_t begin = units[first].offset;
    std::uint64_t end = begin + units[first].bytes;
    std::size_t last = first + 1;
    // What lies between them, as it has changed since, is read as well if it is little.
    for (; last < units.size() && units[last].file == units[first].file; ++last) {
      const StateUnit& next = units[last];
      if (next.offset > end + (run_bytes_max >> 8)) break;
      if (next.offset + next.bytes > begin + run_bytes_max) break;
      end = std::max(end, next.offset + next.bytes);
    }
    auto bytes = store.read(units[first].file, begin, end - begin);
    if (!bytes) return bytes.error();
    for (; first < last; ++first) {
      const StateUnit& unit = units[first];
      const Bytes state = Bytes(*bytes).subspan(unit.offset - begin, unit.bytes);
      if (const std::uint64_t found = wire::checksum(state); found != unit.checksum) {
        return Error{Errc::corrupt, concat("snapshot ", unit.file.snapshot, ", part of replica ",
                                           unit.file.replica, ": want states of group ", unit.group,
                                           " with the checksum ", to_hex(unit.checksum), ", found ",
                                           to_hex(found))};
      }
      if (auto used = use(unit, state); !used) return used;
    }
  }
  return Done{};
}

Result<std::optional<Manifest>> newest_intact(SnapshotStore& store, std::vector<Error>& refused) {
  auto snapshots = store.list();
  if (!snapshots) return snapshots.error();
  std::reverse(snapshots->begin(), snapshots->end());
  std::optional<Error> other_version;
  for (const SnapshotId snapshot : *snapshots) {
    auto manifest = verify(store, snapshot);
    if (manifest) return std::optional<Manifest>(*std::move(manifest));
    // It may be whole, and can be read another time.
    if (manifest.error().code == Errc::timeout) return manifest.error();
    // A flipped bit can look like another version, so that does not end the search either.
    if (manifest.error().code == Errc::refused && !other_version) other_version = manifest.error();
    refused.push_back(manifest.error());
  }
  if (other_version) return *other_version;
  return std::optional<Manifest>();
}

}  // namespace piracema::store
