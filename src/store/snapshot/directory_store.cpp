#include "store/snapshot/directory_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <piracema/detail/restored.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <new>
#include <optional>
#include <set>
#include <span>

#include "base/text.h"
#include "store/disk/file_lock.h"
#include "store/disk/files.h"
#include "store/snapshot/manifest_format.h"
#include "store/snapshot/part_format.h"
#include "wire/checksum.h"

namespace piracema::store {

namespace {

/// A directory that is removed is looked through so often: those that add to it stop soon.
constexpr int parts_added_meanwhile_max = 64;

// Calls `visit` for each name but "." and "..", until it returns false.
Result<Done> each_name(const std::string& path,
                       const std::function<bool(std::string_view)>& visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
  if (!directory) return io_error(path, "cannot open directory");
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && !visit(name)) break;
  }
  if (errno != 0) return io_error(path, "cannot read directory");
  return Done{};
}

Result<bool> exists(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return io_error(path, "cannot look for it");
}

Result<Done> remove_name(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return Done{};
  return io_error(path, "cannot remove");
}

Result<Done> make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return Done{};
  return io_error(path, "cannot make directory");
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

std::string DirectoryStore::directory_of(SnapshotId snapshot) const {
  return concat(path_, "/", snapshot_folder_name(snapshot));
}
std::string DirectoryStore::manifest_path(SnapshotId snapshot) const {
  return concat(directory_of(snapshot), "/", manifest_file_name);
}
std::string DirectoryStore::part_path(SnapshotId snapshot, ReplicaId replica) const {
  return concat(directory_of(snapshot), "/", part_file_name(replica));
}

std::string DirectoryStore::released_path(SnapshotId snapshot) const {
  return concat(directory_of(snapshot), "/", released_file_name);
}
std::string DirectoryStore::savepoint_path(const std::string& name) const {
  return concat(path_, "/", savepoints_folder_name, "/", name);
}

Result<bool> DirectoryStore::has_manifest(SnapshotId snapshot) const {
  return exists(manifest_path(snapshot));
}

Result<std::vector<SnapshotId>> DirectoryStore::numbers() const {
  std::vector<SnapshotId> found;
  auto read = each_name(path_, [&](std::string_view name) {
    if (const auto number = snapshot_of_folder(name)) found.push_back(*number);
    return true;
  });
  if (!read) return read.error();
  std::sort(found.begin(), found.end());
  return found;
}

Result<Done> DirectoryStore::can_be_put(SnapshotId snapshot) const {
  auto taken = is_taken(snapshot);
  return taken ? make_directory(directory_of(snapshot)) : taken;
}

Result<Done> DirectoryStore::is_taken(SnapshotId snapshot) const {
  auto complete = has_manifest(snapshot);
  if (!complete) return complete.error();
  if (!*complete) return Done{};
  return Error{Errc::refused, concat(directory_of(snapshot),
                                     ": want a snapshot that is being taken, found it complete")};
}

Result<Part> DirectoryStore::put(SnapshotId snapshot, ReplicaId replica, Bytes state) {
  auto part = describe(replica, state);
  if (!part) return part;
  if (auto can = can_be_put(snapshot); !can) return can.error();
  const PartHeader header = part_header(snapshot, *part);
  const PartTrailer trailer = part_trailer(*part);
  const std::array<Bytes, 3> pieces{header, state, trailer};
  auto written = replace_file(part_path(snapshot, replica), pieces);
  if (!written) return written.error();
  return part;
}

Result<Done> DirectoryStore::sync_complete(SnapshotId snapshot) {
  auto synced = sync_directory(directory_of(snapshot));
  return synced ? sync_directory(path_) : synced;
}

/// The header is written last, as it says how long the part is.
class DirectoryStore::Stream final : public PartStream {
 public:
  Stream(const DirectoryStore& store, PartFile of, NewFile file)
      : store_(store), of_(of), file_(std::move(file)) {}

  Result<Done> begin() { return put(PartHeader{}, {}); }

  Result<Done> append(Bytes data) override {
    auto done = put(data, {});
    if (done) bytes_ += data.size();
    return done;
  }

  Result<Part> finish(const PartIndex& content) override {
    if (failed_) return *failed_;
    const Buffer index = encode_index(content);
    auto part = describe_indexed(of_.snapshot, of_.replica, bytes_, index, content);
    if (!part) return part;
    // It may have become complete without this part.
    if (auto taken = store_.is_taken(of_.snapshot); !taken) return taken.error();
    if (auto written = put(index, index_trailer(index)); !written) return written.error();
    auto header = file_.overwrite(0, part_header(of_.snapshot, *part));
    if (!header) return header.error();
    if (auto finished = file_.finish(); !finished) return finished.error();
    return part;
  }

 private:
  Result<Done> put(Bytes first, Bytes second) {
    if (failed_) return *failed_;
    auto written = file_.append(std::array<Bytes, 2>{first, second});
    if (!written) failed_ = written.error();
    return written;
  }

  const DirectoryStore& store_;
  const PartFile of_;
  NewFile file_;
  std::uint64_t bytes_ = 0;
  std::optional<Error> failed_;
};

Result<std::unique_ptr<PartStream>> DirectoryStore::begin_part(SnapshotId snapshot,
                                                               ReplicaId replica) {
  if (auto can = can_be_put(snapshot); !can) return can.error();
  auto file = NewFile::create(part_path(snapshot, replica));
  if (!file) return file.error();
  auto stream = std::make_unique<Stream>(*this, PartFile{snapshot, replica}, *std::move(file));
  if (auto begun = stream->begin(); !begun) return begun.error();
  return std::unique_ptr<PartStream>(std::move(stream));
}

Result<Done> DirectoryStore::commit(const Manifest& manifest) {
  const SnapshotId snapshot = manifest.snapshot;
  auto complete = has_manifest(snapshot);
  if (!complete) return complete.error();
  if (*complete) {
    const auto found = this->manifest(snapshot);
    if (found && found->is_again(manifest)) return sync_complete(snapshot);
    return Error{Errc::refused,
                 concat(manifest_path(snapshot), ": want none yet, found the snapshot complete")};
  }
  for (const Part& part : manifest.parts) {
    auto file = open_for_reading(part_path(snapshot, part.replica));
    if (!file) return file.error();
  }
  auto text = encode_manifest(manifest);
  if (!text) return text.error();
  if (auto made = make_directory(directory_of(snapshot)); !made) return made;

  // The names of the parts are durable before that of the manifest can be.
  if (auto synced = sync_directory(directory_of(snapshot)); !synced) return synced;
  const std::array<Bytes, 1> pieces{as_bytes(*text)};
  if (auto written = replace_file(manifest_path(snapshot), pieces); !written) return written;
  auto synced = sync_complete(snapshot);
  if (!synced) ::unlink(manifest_path(snapshot).c_str());  // Nobody can rely on it.
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
  const std::string path = manifest_path(snapshot);
  auto text = read_file(path, manifest_bytes_max);
  if (!text) return text.error();
  return decode_manifest(path, *text, snapshot);
}

// As a process does that opens it.
Result<Done> DirectoryStore::find(std::optional<SnapshotId> snapshot) {
  auto opened = open_directory_store(path_, false);
  if (!opened) return opened.error();
  if (!snapshot) return Done{};
  auto complete = has_manifest(*snapshot);
  if (!complete) return complete.error();
  if (*complete) return Done{};
  return Error{Errc::not_found, concat(manifest_path(*snapshot), ": no such file")};
}

namespace {

// In pieces, so that it is seen to get on.
Result<Done> read_state(const ReadableFile& file, std::uint64_t offset, std::span<std::byte> room) {
  constexpr std::size_t piece_bytes = std::size_t{4} << 20;
  for (std::size_t done = 0; done < room.size();) {
    const auto piece = room.subspan(done, std::min(piece_bytes, room.size() - done));
    if (auto read = read_at(file, part_header_bytes + offset + done, piece); !read) return read;
    detail::note_restored(piece.size());
    done += piece.size();
  }
  return Done{};
}

Result<Buffer> read_run(const ReadableFile& file, std::uint64_t offset, std::uint64_t bytes) {
  Buffer run;
  try {
    run.resize(static_cast<std::size_t>(bytes));
  } catch (const std::bad_alloc&) {
    return Error{Errc::io, concat(file.path, ": no memory for its ", bytes, " bytes")};
  }
  if (auto read = read_state(file, offset, {run.data(), run.size()}); !read) return read.error();
  return run;
}

Result<ReadableFile> open_part(const std::string& path) {
  auto file = open_for_reading(path);
  if (file) return file;
  const bool missing = file.error().code == Errc::not_found;
  return Error{missing ? Errc::corrupt : file.error().code, file.error().message};
}

struct PartStart {
  PartHeader header{};
  std::size_t bytes = 0;
  operator Bytes() const { return Bytes(header).first(bytes); }
};
Result<PartStart> read_start(const ReadableFile& file) {
  PartStart start;
  start.bytes = static_cast<std::size_t>(std::min<std::uint64_t>(file.bytes, part_header_bytes));
  if (auto read = read_at(file, 0, std::span(start.header).first(start.bytes)); !read) {
    return read.error();
  }
  return start;
}

Result<IndexedPart> read_indexed(const ReadableFile& file, const PartFile& want) {
  auto start = read_start(file);
  if (!start) return start.error();
  return check_indexed(file.path, file.bytes, *start, want);
}

}  // namespace

Result<Buffer> DirectoryStore::get(SnapshotId snapshot, const Part& part) {
  auto file = open_part(part_path(snapshot, part.replica));
  if (!file) return file.error();
  if (part.indexed) {
    auto content = index(snapshot, part);
    if (!content) return content.error();
    auto plain = read_run(*file, 0, content->plain_bytes);
    if (!plain) return plain;
    if (wire::checksum(*plain) != content->plain_checksum) {
      return Error{Errc::corrupt, concat(file->path, ": want a state with another checksum")};
    }
    return plain;
  }
  auto start = read_start(*file);
  if (!start) return start.error();
  auto fits = check_part_header(file->path, file->bytes, *start, snapshot, part);
  if (!fits) return fits.error();
  auto state = read_run(*file, 0, part.bytes);
  if (!state) return state;
  PartTrailer trailer{};
  auto read = read_at(*file, part_header_bytes + part.bytes, trailer);
  if (!read) return read.error();
  if (auto same = check_part_state(file->path, *state, trailer, part); !same) return same.error();
  return state;
}

Result<PartIndex> DirectoryStore::index(SnapshotId snapshot, const Part& part) {
  return read_index({snapshot, part.replica}, &part);
}
Result<PartIndex> DirectoryStore::index(const PartFile& file) { return read_index(file, nullptr); }

Result<PartIndex> DirectoryStore::read_index(const PartFile& of, const Part* part) {
  auto file = open_part(part_path(of.snapshot, of.replica));
  if (!file) return file.error();
  auto found = read_indexed(*file, of);
  if (!found) return found.error();
  IndexTrailer trailer{};
  auto read = read_at(*file, part_header_bytes + found->bytes, trailer);
  if (!read) return read.error();
  auto place = check_index_trailer(file->path, trailer, *found, part);
  if (!place) return place.error();
  auto text = read_run(*file, found->bytes - place->bytes, place->bytes);
  if (!text) return text.error();
  return check_index(file->path, *text, *found, *place, of, part);
}

Result<Buffer> DirectoryStore::read(const PartFile& wanted, std::uint64_t offset,
                                    std::uint64_t bytes) {
  auto file = open_part(part_path(wanted.snapshot, wanted.replica));
  if (!file) return file.error();
  auto holds = read_indexed(*file, wanted);
  if (!holds) return holds.error();
  if (offset > holds->bytes || bytes > holds->bytes - offset) {
    return Error{Errc::corrupt, concat(file->path, ": want ", bytes, " bytes at ", offset,
                                       ", found that it holds ", holds->bytes)};
  }
  return read_run(*file, offset, bytes);
}

Result<Done> DirectoryStore::clear(SnapshotId snapshot, const std::set<PartFile>& keep) {
  const std::string directory = directory_of(snapshot);
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
  const std::string directory = directory_of(snapshot);
  auto complete = has_manifest(snapshot);
  if (!complete) return complete.error();
  // The manifest goes first and for good, so that no crash leaves one without its parts.
  std::error_code error;
  if (*complete) {
    std::filesystem::remove_all(manifest_path(snapshot), error);
    if (error) {
      return Error{Errc::io, concat(manifest_path(snapshot), ": cannot remove: ", error.message())};
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

Result<Done> DirectoryStore::write_savepoint(const std::string& name, SnapshotId snapshot) {
  const std::string folder = concat(path_, "/", savepoints_folder_name);
  if (auto made = make_directory(folder); !made) return made;
  auto file = NewFile::create(savepoint_path(name));
  if (!file) return file.error();
  const std::string text = encode_savepoint(name, snapshot);
  const std::array<Bytes, 1> pieces{as_bytes(text)};
  if (auto written = file->append(pieces); !written) return written;
  if (auto finished = file->finish_new(); !finished) return finished;
  if (auto synced = sync_directory(folder); !synced) return synced;
  return sync_directory(path_);
}

Result<Savepoints> DirectoryStore::savepoints() {
  Savepoints found;
  const std::string folder = concat(path_, "/", savepoints_folder_name);
  const auto any = exists(folder);
  if (!any) return any.error();
  if (!*any) return found;
  std::vector<std::string> names;
  auto looked = each_name(folder, [&](std::string_view name) {
    if (is_savepoint_name(name)) names.emplace_back(name);
    return true;
  });
  if (!looked) return looked.error();
  for (const std::string& name : names) {
    const std::string path = savepoint_path(name);
    const auto text = read_file(path, savepoint_bytes_max);
    if (!text && text.error().code == Errc::not_found) continue;  // Deleted since.
    if (!text) return text.error();
    const auto snapshot = decode_savepoint(path, name, *text);
    if (!snapshot) return snapshot.error();
    found.emplace(name, *snapshot);
  }
  return found;
}

Result<Done> DirectoryStore::delete_savepoint(const std::string& name) {
  if (auto fits = check_savepoint_name(name); !fits) return fits;
  const std::string path = savepoint_path(name);
  if (::unlink(path.c_str()) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) return io_error(path, "cannot remove");
    return Error{Errc::not_found, concat(path, ": no such savepoint")};
  }
  return sync_directory(concat(path_, "/", savepoints_folder_name));
}

Result<bool> DirectoryStore::is_released(SnapshotId snapshot) {
  return exists(released_path(snapshot));
}

// Between processes of one machine's lifetime it counts at once; after a crash it is set again.
Result<Done> DirectoryStore::set_released(SnapshotId snapshot, bool released) {
  const std::string path = released_path(snapshot);
  if (!released) {
    if (auto removed = remove_name(path); !removed) return removed;
    return sync_directory(directory_of(snapshot));
  }
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (file) return Done{};
  return io_error(path, "cannot create");
}

namespace {

class LockedFile final : public JobLock {
 public:
  explicit LockedFile(Fd file) : file_(std::move(file)) {}
  void when_lost(std::function<void(const Error&)>) override {}
  Fd* file() override { return &file_; }

 private:
  Fd file_;
};

}  // namespace

Result<std::shared_ptr<JobLock>> DirectoryStore::lock() {
  auto locked = lock_file(lock_path(), "job");
  if (!locked) return locked.error();
  return as_lock(*std::move(locked));
}

std::string DirectoryStore::lock_path_in(const std::string& directory) {
  return concat(directory, "/", lock_name);
}

std::shared_ptr<JobLock> DirectoryStore::as_lock(Fd locked) {
  return std::make_shared<LockedFile>(std::move(locked));
}

namespace {

// Puts the mark of a snapshot directory into a new or empty one.
Result<Done> mark_directory(const std::string& path) {
  const std::string lock = concat(path, "/", lock_name);
  const Fd fd(::open(lock.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!fd) return io_error(lock, "cannot create");
  if (auto synced = sync_directory(path); !synced) return synced;
  return sync_directory(parent_of(path));
}

}  // namespace

Result<std::unique_ptr<DirectoryStore>> open_directory_store(const std::string& path, bool create) {
  std::error_code error;
  std::string whole = std::filesystem::absolute(path, error).lexically_normal().string();
  if (path.empty() || error) {
    return Error{Errc::config,
                 concat("want the name of a snapshot directory, found \"", path, "\"")};
  }
  while (whole.size() > 1 && whole.back() == '/') whole.pop_back();
  if (create) {
    if (auto made = make_directory(whole); !made) return made.error();
  }
  struct stat status {};
  if (::stat(whole.c_str(), &status) < 0) {
    if (errno != ENOENT) return io_error(whole, "cannot open");
    return Error{Errc::not_found, concat(whole, ": want a snapshot directory, found nothing")};
  }
  if (!S_ISDIR(status.st_mode)) {
    return Error{Errc::config, concat(whole, ": want a snapshot directory, found a file")};
  }

  // Any snapshot marks the directory as well: the loss of one file is not that of the job.
  bool marked = false;
  std::string other;
  auto read = each_name(whole, [&](std::string_view name) {
    if (name == lock_name || snapshot_of_folder(name)) marked = true;
    if (name != "lost+found") other = name;
    return !marked;
  });
  if (!read) return read.error();
  if (!marked && (!create || !other.empty())) {
    return Error{Errc::config,
                 concat(whole, ": want a snapshot directory, found ",
                        other.empty() ? "an empty one" : concat("one that holds \"", other, "\""))};
  }
  if (!marked) {
    if (auto done = mark_directory(whole); !done) return done.error();
  }
  return std::make_unique<DirectoryStore>(std::move(whole));
}

}  // namespace piracema::store
