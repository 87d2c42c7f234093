#include "store/snapshot/directory_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>

#include "base/text.h"
#include "store/disk/directory.h"
#include "store/disk/files.h"
#include "store/snapshot/file_job_lock.h"
#include "store/snapshot/manifest_format.h"
#include "store/snapshot/part_file_stream.h"
#include "store/snapshot/part_format.h"
#include "store/snapshot/snapshot_directory.h"

namespace piracema::store {

namespace {

/// A directory that is removed is looked through so often: those that add to it stop soon.
constexpr int parts_added_meanwhile_max = 64;

}  // namespace

Result<bool> DirectoryStore::has_manifest(SnapshotId snapshot) const {
  return exists(paths_.manifest(snapshot));
}

Result<std::vector<SnapshotId>> DirectoryStore::numbers() const {
  std::vector<SnapshotId> found;
  auto read = each_name(paths_.directory(), [&](std::string_view name) {
    if (const auto number = snapshot_of_folder(name)) found.push_back(*number);
    return true;
  });
  if (!read) return read.error();
  std::sort(found.begin(), found.end());
  return found;
}

Result<Done> DirectoryStore::can_be_put(SnapshotId snapshot) const {
  auto taken = is_taken(snapshot);
  return taken ? make_directory(paths_.folder(snapshot)) : taken;
}

Result<Done> DirectoryStore::is_taken(SnapshotId snapshot) const {
  auto complete = has_manifest(snapshot);
  if (!complete) return complete.error();
  if (!*complete) return Done{};
  return Error{Errc::refused, concat(paths_.folder(snapshot),
                                     ": want a snapshot that is being taken, found it complete")};
}

Result<Part> DirectoryStore::put(SnapshotId snapshot, ReplicaId replica, Bytes state) {
  auto part = describe(replica, state);
  if (!part) return part;
  if (auto can = can_be_put(snapshot); !can) return can.error();
  const PartHeader header = part_header(snapshot, *part);
  const PartTrailer trailer = part_trailer(*part);
  const std::array<Bytes, 3> pieces{header, state, trailer};
  auto written = replace_file(paths_.part({snapshot, replica}), pieces);
  if (!written) return written.error();
  return part;
}

Result<Done> DirectoryStore::sync_complete(SnapshotId snapshot) {
  auto synced = sync_directory(paths_.folder(snapshot));
  return synced ? sync_directory(paths_.directory()) : synced;
}

Result<std::unique_ptr<PartStream>> DirectoryStore::begin_part(SnapshotId snapshot,
                                                               ReplicaId replica) {
  if (auto can = can_be_put(snapshot); !can) return can.error();
  const PartFile file{snapshot, replica};
  // It may become complete without this part.
  return PartFileStream::begin(paths_.part(file), file,
                               [this, snapshot] { return is_taken(snapshot); });
}

Result<Done> DirectoryStore::commit(const Manifest& manifest) {
  const SnapshotId snapshot = manifest.snapshot;
  auto complete = has_manifest(snapshot);
  if (!complete) return complete.error();
  if (*complete) {
    const auto found = this->manifest(snapshot);
    if (found && found->is_again(manifest)) return sync_complete(snapshot);
    return Error{Errc::refused,
                 concat(paths_.manifest(snapshot), ": want none yet, found the snapshot complete")};
  }
  for (const Part& part : manifest.parts) {
    auto file = open_for_reading(paths_.part({snapshot, part.replica}));
    if (!file) return file.error();
  }
  auto text = encode_manifest(manifest);
  if (!text) return text.error();
  if (auto made = make_directory(paths_.folder(snapshot)); !made) return made;

  // The names of the parts are durable before that of the manifest can be.
  if (auto synced = sync_directory(paths_.folder(snapshot)); !synced) return synced;
  const std::array<Bytes, 1> pieces{as_bytes(*text)};
  if (auto written = replace_file(paths_.manifest(snapshot), pieces); !written) return written;
  auto synced = sync_complete(snapshot);
  if (!synced) ::unlink(paths_.manifest(snapshot).c_str());  // Nobody can rely on it.
  return synced;
}

Result<std::vector<SnapshotId>> DirectoryStore::list() {
  auto all = numbers();
  if (!all) return all;
  std::vector<SnapshotId> complete;
  for (const SnapshotId snapshot : *all) {
    auto is = has_manifest(snapshot);
    if (!is) return is.error();
    if (*is) complete.push_back(snapshot);
  }
  return complete;
}

Result<Manifest> DirectoryStore::manifest(SnapshotId snapshot) {
  const std::string path = paths_.manifest(snapshot);
  auto text = read_file(path, manifest_bytes_max);
  if (!text) return text.error();
  return decode_manifest(path, *text, snapshot);
}

// As a process does that opens it.
Result<Done> DirectoryStore::find(std::optional<SnapshotId> snapshot) {
  auto opened = find_snapshot_directory(paths_.directory(), false);
  if (!opened) return opened.error();
  if (!snapshot) return Done{};
  auto complete = has_manifest(*snapshot);
  if (!complete) return complete.error();
  if (*complete) return Done{};
  return Error{Errc::not_found, concat(paths_.manifest(*snapshot), ": no such file")};
}

Result<PartReader> DirectoryStore::open(const PartFile& file) const {
  return PartReader::open(paths_.part(file), file);
}

Result<Buffer> DirectoryStore::get(SnapshotId snapshot, const Part& part) {
  auto file = open({snapshot, part.replica});
  return file ? file->state(part) : file.error();
}

Result<PartIndex> DirectoryStore::index(SnapshotId snapshot, const Part& part) {
  auto file = open({snapshot, part.replica});
  return file ? file->index(&part) : file.error();
}

Result<PartIndex> DirectoryStore::index(const PartFile& wanted) {
  auto file = open(wanted);
  return file ? file->index(nullptr) : file.error();
}

Result<Buffer> DirectoryStore::read(const PartFile& wanted, std::uint64_t offset,
                                    std::uint64_t bytes) {
  auto file = open(wanted);
  return file ? file->run(offset, bytes) : file.error();
}

Result<Done> DirectoryStore::clear(SnapshotId snapshot, const std::set<PartFile>& keep) {
  const std::string directory = paths_.folder(snapshot);
  std::set<std::string> kept;
  for (const PartFile& file : keep) {
    if (file.snapshot == snapshot) kept.insert(part_file_name(file.replica));
  }
  std::error_code error;
  if (kept.empty()) {
    // Who has not heard yet that it is dropped may be adding its part: then there is one more to
    // remove.
    for (int part = 0; part < parts_added_meanwhile_max; ++part) {
      std::filesystem::remove_all(directory, error);
      if (error != std::errc::directory_not_empty) break;
    }
  } else if (std::filesystem::exists(directory, error)) {
    std::vector<std::string> gone;
    auto read = each_name(directory, [&](std::string_view name) {
      if (!kept.contains(std::string(name))) gone.emplace_back(name);
      return true;
    });
    if (!read) return read;
    for (const std::string& name : gone) {
      if (!error) std::filesystem::remove_all(concat(directory, "/", name), error);
    }
  }
  if (error) return Error{Errc::io, concat(directory, ": cannot remove: ", error.message())};
  return Done{};
}

Result<Done> DirectoryStore::remove(SnapshotId snapshot) {
  const std::string directory = paths_.folder(snapshot);
  auto complete = has_manifest(snapshot);
  if (!complete) return complete.error();
  // The manifest goes first and for good, so that no crash leaves one without its parts.
  std::error_code error;
  if (*complete) {
    std::filesystem::remove_all(paths_.manifest(snapshot), error);
    if (error) {
      return Error{Errc::io,
                   concat(paths_.manifest(snapshot), ": cannot remove: ", error.message())};
    }
    if (auto synced = sync_directory(directory); !synced) return synced;
  }
  auto keep = needed();
  if (!keep) return keep.error();
  if (auto cleared = clear(snapshot, *keep); !cleared) return cleared;
  // Those that were kept for this one, and for no other. Newer ones may be under way.
  auto all = numbers();
  if (!all) return all.error();
  for (const SnapshotId older : *all) {
    if (older >= snapshot) break;
    auto is = has_manifest(older);
    if (!is) return is.error();
    if (*is) continue;
    if (auto cleared = clear(older, *keep); !cleared) return cleared;
  }
  return Done{};
}

Result<Done> DirectoryStore::sweep(SnapshotId keep_from) {
  auto all = numbers();
  if (!all) return all.error();
  for (const SnapshotId snapshot : *all) {
    if (snapshot >= keep_from) break;
    auto complete = has_manifest(snapshot);
    if (!complete) return complete.error();
    if (*complete) continue;
    if (auto dropped = drop(snapshot); !dropped) return dropped;
  }
  return Done{};
}

Result<bool> DirectoryStore::is_released(SnapshotId snapshot) {
  return exists(paths_.released(snapshot));
}

// Between processes of one machine's lifetime it counts at once; after a crash it is set again.
Result<Done> DirectoryStore::set_released(SnapshotId snapshot, bool released) {
  const std::string path = paths_.released(snapshot);
  if (!released) {
    if (auto removed = remove_name(path); !removed) return removed;
    return sync_directory(paths_.folder(snapshot));
  }
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (file) return Done{};
  return io_error(path, "cannot create");
}

Result<std::shared_ptr<JobLock>> DirectoryStore::lock(const JobClaim&) {
  return FileJobLock::take(paths_.lock());
}

Result<std::unique_ptr<DirectoryStore>> open_directory_store(const std::string& path, bool create) {
  auto directory = find_snapshot_directory(path, create);
  if (!directory) return directory.error();
  return std::make_unique<DirectoryStore>(*std::move(directory));
}

}  // namespace piracema::store
