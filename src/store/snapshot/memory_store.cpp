#include "store/snapshot/memory_store.h"

#include <algorithm>

#include "base/ensure.h"
#include "base/text.h"
#include "store/snapshot/manifest_format.h"
#include "store/snapshot/part_format.h"
#include "wire/checksum.h"

namespace piracema::store {

namespace {

std::string path_of(SnapshotId snapshot, std::string_view file) {
  return concat(snapshot_folder_name(snapshot), "/", file);
}

Error disk_full(const std::string& path) {
  return Error{Errc::io, concat(path, ": cannot write: No space left on device (simulated)")};
}

std::string path_of_savepoint(const std::string& name) {
  return concat(savepoints_folder_name, "/", name);
}

void append(Buffer& file, Bytes bytes) { file.append(bytes.data(), bytes.size()); }

// The bytes of the file that a directory would hold.
Buffer part_file(SnapshotId snapshot, const Part& part, Bytes state, Bytes index = {}) {
  Buffer file;
  append(file, part_header(snapshot, part));
  append(file, state);
  append(file, index);
  if (part.indexed) {
    append(file, index_trailer(index));
  } else {
    append(file, part_trailer(part));
  }
  return file;
}

Bytes start_of(Bytes file) { return file.first(std::min(file.size(), part_header_bytes)); }

void flip_a_bit(Buffer& file, Random& random) {
  if (file.empty()) return;
  file.data()[random.below(file.size())] ^= static_cast<std::byte>(1u << random.below(8));
}

void cut(Buffer& file, Random& random) { file.resize(random.below(file.size())); }

}  // namespace

bool MemoryStore::has_manifest(SnapshotId snapshot) const {
  const auto found = snapshots_.find(snapshot);
  return found != snapshots_.end() && found->second.manifest;
}

void MemoryStore::set_faults(MemoryFaults faults) {
  std::lock_guard lock(mutex_);
  faults_ = faults;
  random_ = Random(faults.seed);
}

std::set<PartFile> MemoryStore::needed() const {
  std::set<PartFile> needed;
  for (const auto& [snapshot, files] : snapshots_) {
    if (!files.manifest) continue;
    const auto of = decode_manifest("", *files.manifest, snapshot);
    if (!of) continue;
    for (const Part& part : of->parts) needed.insert(part.files.begin(), part.files.end());
  }
  return needed;
}

Result<Done> MemoryStore::can_be_put(SnapshotId snapshot) const {
  if (!has_manifest(snapshot)) return Done{};
  return Error{Errc::refused,
               concat("snapshot ", snapshot, ": want one that is being taken, found it complete")};
}

Result<Part> MemoryStore::put(SnapshotId snapshot, ReplicaId replica, Bytes state) {
  auto part = describe(replica, state);
  if (!part) return part;
  std::lock_guard lock(mutex_);
  if (auto can = can_be_put(snapshot); !can) return can.error();
  if (random_.chance(faults_.put)) {
    return disk_full(path_of(snapshot, part_file_name(replica)));
  }
  snapshots_[snapshot].parts[replica] = part_file(snapshot, *part, state);
  return part;
}

class MemoryStore::Stream final : public PartStream {
 public:
  /// `fails_after`: so many calls, the beginning among them; at the latest at its end.
  Stream(MemoryStore& store, PartFile of, std::optional<std::uint64_t> fails_after)
      : store_(store), of_(of), fails_after_(fails_after) {}

  Result<Done> next() {
    if (fails_after_ && calls_++ >= *fails_after_) {
      return disk_full(path_of(of_.snapshot, part_file_name(of_.replica)));
    }
    return Done{};
  }
  Result<Done> append(Bytes data) override {
    auto can = next();
    if (can) piracema::store::append(data_, data);
    return can;
  }
  Result<Part> finish(const PartIndex& content) override {
    const Buffer index = encode_index(content);
    auto part = describe_indexed(of_.snapshot, of_.replica, data_.size(), index, content);
    if (!part) return part;
    if (fails_after_) return disk_full(path_of(of_.snapshot, part_file_name(of_.replica)));
    std::lock_guard lock(store_.mutex_);
    if (auto can = store_.can_be_put(of_.snapshot); !can) return can.error();
    store_.snapshots_[of_.snapshot].parts[of_.replica] =
        part_file(of_.snapshot, *part, data_, index);
    return part;
  }

 private:
  MemoryStore& store_;
  const PartFile of_;
  const std::optional<std::uint64_t> fails_after_;
  std::uint64_t calls_ = 0;
  Buffer data_;
};

Result<std::unique_ptr<PartStream>> MemoryStore::begin_part(SnapshotId snapshot,
                                                            ReplicaId replica) {
  std::optional<std::uint64_t> fails_after;
  {
    std::lock_guard lock(mutex_);
    if (auto can = can_be_put(snapshot); !can) return can.error();
    if (random_.chance(faults_.put)) fails_after = random_.below(3);
  }
  auto stream = std::make_unique<Stream>(*this, PartFile{snapshot, replica}, fails_after);
  if (auto begun = stream->next(); !begun) return begun.error();
  return std::unique_ptr<PartStream>(std::move(stream));
}

Result<Done> MemoryStore::commit(const Manifest& manifest) {
  std::lock_guard lock(mutex_);
  const std::string path = path_of(manifest.snapshot, manifest_file_name);
  if (has_manifest(manifest.snapshot)) {
    const auto found =
        decode_manifest(path, *snapshots_[manifest.snapshot].manifest, manifest.snapshot);
    if (found && found->is_again(manifest)) return Done{};
    return Error{Errc::refused, concat(path, ": want none yet, found the snapshot complete")};
  }
  auto text = encode_manifest(manifest);
  if (!text) return text.error();
  if (random_.chance(faults_.commit)) return disk_full(path);
  for (const Part& part : manifest.parts) {
    if (!snapshots_[manifest.snapshot].parts.contains(part.replica)) {
      return Error{Errc::not_found, concat(path_of(manifest.snapshot, part_file_name(part.replica)),
                                           ": no such file")};
    }
  }
  snapshots_[manifest.snapshot].manifest = Buffer(as_bytes(*text));
  return Done{};
}

Result<std::vector<SnapshotId>> MemoryStore::list() {
  std::lock_guard lock(mutex_);
  std::vector<SnapshotId> complete;
  for (const auto& [snapshot, files] : snapshots_) {
    if (files.manifest) complete.push_back(snapshot);
  }
  return complete;
}

Result<Manifest> MemoryStore::manifest(SnapshotId snapshot) {
  std::lock_guard lock(mutex_);
  const std::string path = path_of(snapshot, manifest_file_name);
  if (!has_manifest(snapshot)) return Error{Errc::not_found, concat(path, ": no such file")};
  return decode_manifest(path, *snapshots_[snapshot].manifest, snapshot);
}

Result<Done> MemoryStore::find(std::optional<SnapshotId> snapshot) {
  std::lock_guard lock(mutex_);
  if (!snapshot || has_manifest(*snapshot)) return Done{};
  return Error{Errc::not_found, concat(path_of(*snapshot, manifest_file_name), ": no such file")};
}

Result<Buffer> MemoryStore::get(SnapshotId snapshot, const Part& part) {
  if (part.indexed) {
    auto content = index(snapshot, part);
    if (!content) return content.error();
    auto plain = read({snapshot, part.replica}, 0, content->plain_bytes);
    if (plain && wire::checksum(*plain) != content->plain_checksum) {
      return Error{Errc::corrupt, concat(path_of(snapshot, part_file_name(part.replica)),
                                         ": want a state with another checksum")};
    }
    return plain;
  }
  std::lock_guard lock(mutex_);
  const std::string path = path_of(snapshot, part_file_name(part.replica));
  const auto files = snapshots_.find(snapshot);
  if (files == snapshots_.end() || !files->second.parts.contains(part.replica)) {
    return Error{Errc::corrupt, concat(path, ": no such file")};
  }
  const Bytes file = files->second.parts[part.replica];
  auto fits = check_part_header(path, file.size(), start_of(file), snapshot, part);
  if (!fits) return fits.error();
  const Bytes state = file.subspan(part_header_bytes, static_cast<std::size_t>(part.bytes));
  auto same = check_part_state(path, state, file.last(part_trailer_bytes), part);
  if (!same) return same.error();
  return Buffer(state);
}

Result<PartIndex> MemoryStore::index(SnapshotId snapshot, const Part& part) {
  return read_index({snapshot, part.replica}, &part);
}
Result<PartIndex> MemoryStore::index(const PartFile& file) { return read_index(file, nullptr); }

Result<PartIndex> MemoryStore::read_index(const PartFile& of, const Part* part) {
  std::lock_guard lock(mutex_);
  const std::string path = path_of(of.snapshot, part_file_name(of.replica));
  const auto files = snapshots_.find(of.snapshot);
  if (files == snapshots_.end() || !files->second.parts.contains(of.replica)) {
    return Error{Errc::corrupt, concat(path, ": no such file")};
  }
  const Bytes file = files->second.parts[of.replica];
  auto found = check_indexed(path, file.size(), start_of(file), of);
  if (!found) return found.error();
  auto place = check_index_trailer(path, file.last(index_trailer_bytes), *found, part);
  if (!place) return place.error();
  const std::uint64_t begin = part_header_bytes + found->bytes - place->bytes;
  return check_index(path, file.subspan(begin, place->bytes), *found, *place, of, part);
}

Result<Buffer> MemoryStore::read(const PartFile& wanted, std::uint64_t offset,
                                 std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const std::string path = path_of(wanted.snapshot, part_file_name(wanted.replica));
  const auto files = snapshots_.find(wanted.snapshot);
  if (files == snapshots_.end() || !files->second.parts.contains(wanted.replica)) {
    return Error{Errc::corrupt, concat(path, ": no such file")};
  }
  const Bytes file = files->second.parts[wanted.replica];
  auto holds = check_indexed(path, file.size(), start_of(file), wanted);
  if (!holds) return holds.error();
  if (offset > holds->bytes || bytes > holds->bytes - offset) {
    return Error{Errc::corrupt, concat(path, ": want ", bytes, " bytes at ", offset,
                                       ", found that it holds ", holds->bytes)};
  }
  return Buffer(file.subspan(part_header_bytes + offset, bytes));
}

Result<bool> MemoryStore::is_complete(SnapshotId snapshot) {
  std::lock_guard lock(mutex_);
  return has_manifest(snapshot);
}

Result<Done> MemoryStore::write_savepoint(const std::string& name, SnapshotId snapshot) {
  std::lock_guard lock(mutex_);
  if (savepoints_.emplace(name, snapshot).second) return Done{};
  return Error{Errc::refused, concat(path_of_savepoint(name), ": is there already")};
}

Result<Savepoints> MemoryStore::savepoints() {
  std::lock_guard lock(mutex_);
  return savepoints_;
}

Result<Done> MemoryStore::delete_savepoint(const std::string& name) {
  std::lock_guard lock(mutex_);
  if (savepoints_.erase(name) == 1) return Done{};
  return Error{Errc::not_found, concat(path_of_savepoint(name), ": no such savepoint")};
}

Result<bool> MemoryStore::is_released(SnapshotId snapshot) {
  std::lock_guard lock(mutex_);
  const auto found = snapshots_.find(snapshot);
  return found != snapshots_.end() && found->second.released;
}

Result<Done> MemoryStore::set_released(SnapshotId snapshot, bool released) {
  std::lock_guard lock(mutex_);
  snapshots_[snapshot].released = released;
  return Done{};
}

Result<Done> MemoryStore::remove(SnapshotId snapshot) {
  std::lock_guard lock(mutex_);
  snapshots_[snapshot].manifest.reset();
  snapshots_[snapshot].released = false;
  const std::set<PartFile> keep = needed();
  for (auto at = snapshots_.begin(); at != snapshots_.end() && at->first <= snapshot;) {
    if (!at->second.manifest) {
      std::erase_if(at->second.parts, [&](const auto& part) {
        return !keep.contains({at->first, part.first});
      });
    }
    const bool empty = !at->second.manifest && at->second.parts.empty();
    at = empty ? snapshots_.erase(at) : std::next(at);
  }
  return Done{};
}

void MemoryStore::crash_in_put(SnapshotId snapshot, ReplicaId replica, Bytes state,
                               Random& random) {
  std::lock_guard lock(mutex_);
  if (has_manifest(snapshot)) return;
  const auto part = describe(replica, state);
  ENSURE(part.ok());
  Buffer file = part_file(snapshot, *part, state);
  switch (random.below(5)) {
    case 0:
      return;
    case 1:
      cut(file, random);
      break;
    case 2:
      flip_a_bit(file, random);
      break;
    case 3:
      file.append("junk", 4);
      break;
    default:
      break;
  }
  snapshots_[snapshot].parts[replica] = std::move(file);
}

void MemoryStore::crash_in_commit(const Manifest& manifest, Random& random) {
  std::lock_guard lock(mutex_);
  if (has_manifest(manifest.snapshot)) return;
  const auto text = encode_manifest(manifest);
  ENSURE(text.ok());
  Buffer file(as_bytes(*text));
  switch (random.below(4)) {
    case 0:
      return;
    case 1:
      cut(file, random);
      break;
    case 2:
      flip_a_bit(file, random);
      break;
    default:
      break;
  }
  snapshots_[manifest.snapshot].manifest = std::move(file);
}

std::string MemoryStore::damage(SnapshotId snapshot, Random& random) {
  std::lock_guard lock(mutex_);
  const auto found = snapshots_.find(snapshot);
  ENSURE(found != snapshots_.end());
  Files& files = found->second;
  const auto kind = random.below(3);
  const auto harm = [&](Buffer& file) { kind == 0 ? cut(file, random) : flip_a_bit(file, random); };
  std::uint64_t choice = random.below(files.parts.size() + (files.manifest ? 1 : 0));
  for (auto part = files.parts.begin(); part != files.parts.end(); ++part, --choice) {
    if (choice != 0) continue;
    const ReplicaId replica = part->first;
    if (kind == 2) {
      files.parts.erase(part);
    } else {
      harm(part->second);
    }
    return path_of(snapshot, part_file_name(replica));
  }
  if (kind == 2) {
    files.manifest.reset();
  } else {
    harm(*files.manifest);
  }
  return path_of(snapshot, manifest_file_name);
}

}  // namespace piracema::store
