#include "store/objects/object_store.h"

#include <piracema/detail/restored.h>

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "base/text.h"
#include "store/objects/object_upload.h"
#include "store/snapshot/manifest_format.h"
#include "wire/checksum.h"

namespace piracema::store {

namespace {

constexpr std::uint64_t run_piece_bytes = std::uint64_t{8} << 20;
/// How much is read at the end of an indexed part to get its index at once.
constexpr std::uint64_t index_guess_bytes = std::uint64_t{64} << 10;
constexpr std::size_t opened_max = 1'024;

/// The word before the slash at its end.
std::string_view last_word(std::string_view folder) {
  if (folder.ends_with('/')) folder.remove_suffix(1);
  return folder.substr(folder.rfind('/') + 1);
}

Bytes start_of(const Buffer& content) {
  return Bytes(content).first(std::min(content.size(), part_header_bytes));
}

}  // namespace

ObjectStore::ObjectStore(ObjectPlace place, ConnectToObjects connect, ObjectStoreSettings settings,
                         std::unique_ptr<ObjectClient> client, std::string job)
    : place_(std::move(place)),
      connect_(std::move(connect)),
      settings_(settings),
      client_(std::move(client)),
      job_(std::move(job)) {}

std::string ObjectStore::manifest_key(SnapshotId snapshot) const {
  return place_.key(concat(snapshot_folder_name(snapshot), "/", manifest_file_name));
}
std::string ObjectStore::part_key(const PartFile& part) const {
  return place_.key(concat(snapshot_folder_name(part.snapshot), "/", part_file_name(part.replica)));
}
std::string ObjectStore::path_of(const std::string& key) const { return place_.root + key; }

std::string ObjectStore::released_key(SnapshotId snapshot) const {
  return place_.key(concat(snapshot_folder_name(snapshot), "/", released_file_name));
}
std::string ObjectStore::savepoint_key(const std::string& name) const {
  return place_.key(concat(savepoints_folder_name, "/", name));
}

Result<bool> ObjectStore::exists(const std::string& key) {
  const auto there = client_->head(key);
  if (there) return true;
  if (there.error().code == Errc::not_found) return false;
  return there.error();
}

Result<Done> ObjectStore::can_be_put(SnapshotId snapshot) {
  auto complete = is_complete(snapshot);
  if (!complete) return complete.error();
  if (!*complete) return is_still_ours();
  return Error{Errc::refused, concat(place_.name, "/", snapshot_folder_name(snapshot),
                                     ": want a snapshot that is being taken, found it complete")};
}

Result<Part> ObjectStore::put(SnapshotId snapshot, ReplicaId replica, Bytes state) {
  auto part = describe(replica, state);
  if (!part) return part;
  if (auto can = can_be_put(snapshot); !can) return can.error();
  ObjectUpload upload(*client_, part_key({snapshot, replica}));
  if (auto appended = upload.append(state); !appended) return appended.error();
  // A large one has taken its time.
  if (state.size() > ObjectUpload::piece_bytes) {
    if (auto can = can_be_put(snapshot); !can) return can.error();
  }
  const PartTrailer trailer = part_trailer(*part);
  auto finished = upload.finish(part_header(snapshot, *part), {trailer});
  if (!finished) return finished.error();
  return part;
}

class ObjectStore::Stream final : public PartStream {
 public:
  Stream(ObjectStore& store, PartFile of)
      : store_(store), of_(of), upload_(*store.client_, store.part_key(of)) {}

  Result<Done> append(Bytes data) override {
    auto done = upload_.append(data);
    if (done) bytes_ += data.size();
    return done;
  }

  Result<Part> finish(const PartIndex& content) override {
    const Buffer index = encode_index(content);
    auto part = describe_indexed(of_.snapshot, of_.replica, bytes_, index, content);
    if (!part) return part;
    // It may have become complete without this part.
    if (auto can = store_.can_be_put(of_.snapshot); !can) return can.error();
    const IndexTrailer trailer = index_trailer(index);
    auto finished = upload_.finish(part_header(of_.snapshot, *part), {index, trailer});
    if (!finished) return finished.error();
    return part;
  }

 private:
  ObjectStore& store_;
  const PartFile of_;
  ObjectUpload upload_;
  std::uint64_t bytes_ = 0;
};

Result<std::unique_ptr<PartStream>> ObjectStore::begin_part(SnapshotId snapshot,
                                                            ReplicaId replica) {
  if (auto can = can_be_put(snapshot); !can) return can.error();
  return std::unique_ptr<PartStream>(std::make_unique<Stream>(*this, PartFile{snapshot, replica}));
}

Result<Done> ObjectStore::is_still_ours() {
  std::shared_ptr<ObjectLock> lock;
  {
    const std::lock_guard guard(mutex_);
    lock = lock_.lock();
  }
  if (lock && lock->is_valid()) return Done{};
  if (lock) {
    return Error{Errc::timeout, concat(place_.name, ": the lease could not be renewed at ",
                                       client_->endpoint(), ": another job may have it")};
  }
  if (job_.empty()) return Done{};
  const auto read = client_->read_lease(place_.key(lock_name));
  if (!read) return read.error();
  if (*read && Lease::job_of_holder((*read)->text) == job_) return Done{};
  return Error{Errc::refused, concat(place_.name, ": another job has it now")};
}

Result<Done> ObjectStore::commit(const Manifest& manifest) {
  const std::string key = manifest_key(manifest.snapshot);
  const auto again = [&]() -> Result<Done> {
    const auto found = this->manifest(manifest.snapshot);
    if (found && found->is_again(manifest)) return Done{};
    if (!found && found.error().code == Errc::timeout) return found.error();
    return Error{Errc::refused,
                 concat(path_of(key), ": want none yet, found the snapshot complete")};
  };
  const std::string folder = place_.key(concat(snapshot_folder_name(manifest.snapshot), "/"));
  const auto listing = client_->list(folder, false);
  if (!listing) return listing.error();
  const std::set<std::string> there(listing->keys.begin(), listing->keys.end());
  if (there.contains(key)) return again();
  for (const Part& part : manifest.parts) {
    const std::string wanted = part_key({manifest.snapshot, part.replica});
    if (there.contains(wanted)) continue;
    return Error{Errc::not_found, concat(path_of(wanted), ": no such object")};
  }
  const auto text = encode_manifest(manifest);
  if (!text) return text.error();
  if (auto ours = is_still_ours(); !ours) return ours;
  const auto written = client_->put_new(key, {as_bytes(*text)});
  if (written) return Done{};
  // A try before may have written it.
  if (written.error().code == Errc::refused) return again();
  return written.error();
}

Result<std::vector<SnapshotId>> ObjectStore::numbers() {
  const auto listing = client_->list(place_.key(""), true);
  if (!listing) return listing.error();
  std::vector<SnapshotId> found;
  for (const std::string& folder : listing->folders) {
    if (const auto number = snapshot_of_folder(last_word(folder))) found.push_back(*number);
  }
  std::sort(found.begin(), found.end());
  return found;
}

Result<std::vector<SnapshotId>> ObjectStore::list() {
  auto all = numbers();
  if (!all) return all;
  std::vector<SnapshotId> complete;
  for (const SnapshotId snapshot : *all) {
    auto is = is_complete(snapshot);
    if (!is) return is.error();
    if (*is) complete.push_back(snapshot);
  }
  return complete;
}

Result<Manifest> ObjectStore::manifest(SnapshotId snapshot) {
  const std::string key = manifest_key(snapshot);
  const auto read = client_->get(key, 0, manifest_bytes_max);
  if (!read) return read.error();
  return decode_manifest(path_of(key), read->content, snapshot);
}

Result<Done> ObjectStore::find(std::optional<SnapshotId> snapshot) {
  const std::string key = snapshot ? manifest_key(*snapshot) : place_.key(lock_name);
  const auto there = client_->head(key);
  if (there) return Done{};
  // Without a snapshot nobody has to have had the lock.
  if (!snapshot && there.error().code == Errc::not_found) {
    const auto any = numbers();
    if (any) return Done{};
    return any.error();
  }
  return there.error();
}

Result<ObjectClient::Read> ObjectStore::read_part(const std::string& key, std::uint64_t offset,
                                                  std::uint64_t bytes, const std::string& tag) {
  auto read = client_->get(key, offset, bytes, tag);
  if (read) return read;
  const Errc code = read.error().code;
  const bool gone = code == Errc::not_found || code == Errc::refused;
  if (gone) return Error{Errc::corrupt, concat(path_of(key), ": ", read.error().message)};
  return read.error();
}

Result<Buffer> ObjectStore::read_run(const std::string& key, const ObjectClient::Object& object,
                                     std::uint64_t offset, std::uint64_t bytes) {
  Buffer run;
  try {
    run.reserve(static_cast<std::size_t>(bytes));
  } catch (const std::bad_alloc&) {
    return Error{Errc::io, concat(path_of(key), ": no memory for its ", bytes, " bytes")};
  }
  while (run.size() < bytes) {
    const std::uint64_t want = std::min(run_piece_bytes, bytes - run.size());
    const auto read = read_part(key, offset + run.size(), want, object.tag);
    if (!read) return read.error();
    if (read->content.size() != want) {
      return Error{Errc::corrupt, concat(path_of(key), ": want ", want, " bytes at ",
                                         offset + run.size(), ", found ", read->content.size())};
    }
    run.append(read->content.data(), read->content.size());
    detail::note_restored(read->content.size());
  }
  return run;
}

Result<Buffer> ObjectStore::get(SnapshotId snapshot, const Part& part) {
  const std::string key = part_key({snapshot, part.replica}), path = path_of(key);
  if (part.indexed) {
    auto content = index(snapshot, part);
    if (!content) return content.error();
    if (content->plain_bytes == 0) return Buffer();
    auto plain = read({snapshot, part.replica}, 0, content->plain_bytes);
    if (plain && wire::checksum(*plain) != content->plain_checksum) {
      return Error{Errc::corrupt, concat(path, ": want a state with another checksum")};
    }
    return plain;
  }
  // All of a small one at once.
  const std::uint64_t whole =
      part_header_bytes + std::min(part.bytes, part_bytes_max) + part_trailer_bytes;
  auto first = read_part(key, 0, std::min(whole, run_piece_bytes));
  if (!first) return first.error();
  auto fits =
      check_part_header(path, first->object.bytes, start_of(first->content), snapshot, part);
  if (!fits) return fits.error();
  Buffer file = std::move(first->content);
  if (file.size() < whole) {
    auto rest = read_run(key, first->object, file.size(), whole - file.size());
    if (!rest) return rest.error();
    file.append(rest->data(), rest->size());
  }
  const Bytes content = Bytes(file).subspan(part_header_bytes);
  const Bytes state = content.first(static_cast<std::size_t>(part.bytes));
  auto same = check_part_state(path, state, content.subspan(state.size()), part);
  if (!same) return same.error();
  return Buffer(state);
}

Result<ObjectStore::Opened> ObjectStore::open_indexed(const PartFile& file) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = opened_.find(file); found != opened_.end()) return found->second;
  }
  const std::string key = part_key(file);
  const auto start = read_part(key, 0, part_header_bytes);
  if (!start) return start.error();
  auto holds = check_indexed(path_of(key), start->object.bytes, start_of(start->content), file);
  if (!holds) return holds.error();
  Opened opened{start->object, *holds};
  const std::lock_guard lock(mutex_);
  if (opened_.size() >= opened_max) opened_.clear();
  opened_.insert_or_assign(file, opened);
  return opened;
}

Result<PartIndex> ObjectStore::index(SnapshotId snapshot, const Part& part) {
  return read_index({snapshot, part.replica}, &part);
}
Result<PartIndex> ObjectStore::index(const PartFile& file) { return read_index(file, nullptr); }

Result<PartIndex> ObjectStore::read_index(const PartFile& of, const Part* part) {
  {
    // It may have been put again since.
    const std::lock_guard lock(mutex_);
    opened_.erase(of);
  }
  const std::string key = part_key(of), path = path_of(key);
  const auto opened = open_indexed(of);
  if (!opened) return opened.error();
  const IndexedPart& holds = opened->holds;
  const std::uint64_t end = part_header_bytes + holds.bytes + index_trailer_bytes;
  const std::uint64_t guess = std::min(index_guess_bytes, end - part_header_bytes);
  const auto tail = read_run(key, opened->object, end - guess, guess);
  if (!tail) return tail.error();
  const Bytes last = Bytes(*tail).last(index_trailer_bytes);
  auto place = check_index_trailer(path, last, holds, part);
  if (!place) return place.error();
  if (place->bytes + index_trailer_bytes <= guess) {
    const Bytes text = Bytes(*tail).first(tail->size() - index_trailer_bytes).last(place->bytes);
    return check_index(path, text, holds, *place, of, part);
  }
  const auto text =
      read_run(key, opened->object, part_header_bytes + holds.bytes - place->bytes, place->bytes);
  if (!text) return text.error();
  return check_index(path, *text, holds, *place, of, part);
}

Result<Buffer> ObjectStore::read(const PartFile& file, std::uint64_t offset, std::uint64_t bytes) {
  const std::string key = part_key(file);
  for (bool again = false;; again = true) {
    const auto opened = open_indexed(file);
    if (!opened) return opened.error();
    const IndexedPart& holds = opened->holds;
    if (offset > holds.bytes || bytes > holds.bytes - offset) {
      return Error{Errc::corrupt, concat(path_of(key), ": want ", bytes, " bytes at ", offset,
                                         ", found that it holds ", holds.bytes)};
    }
    auto run = read_run(key, opened->object, part_header_bytes + offset, bytes);
    if (run) return run;
    // It may have been put again since somebody looked into it.
    const std::lock_guard lock(mutex_);
    opened_.erase(file);
    if (again || run.error().code != Errc::corrupt) return run;
  }
}

Result<Done> ObjectStore::clear(SnapshotId snapshot, const std::set<PartFile>& keep) {
  std::set<std::string> kept;
  for (const PartFile& file : keep) {
    if (file.snapshot == snapshot) kept.insert(part_key(file));
  }
  const auto listing =
      client_->list(place_.key(concat(snapshot_folder_name(snapshot), "/")), false);
  if (!listing) return listing.error();
  for (const std::string& key : listing->keys) {
    if (kept.contains(key)) continue;
    if (auto removed = client_->remove(key); !removed) return removed;
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(opened_, [&](const auto& one) { return one.first.snapshot == snapshot; });
  return Done{};
}

Result<Done> ObjectStore::write_savepoint(const std::string& name, SnapshotId snapshot) {
  const std::string text = encode_savepoint(name, snapshot);
  return client_->put_new(savepoint_key(name), {as_bytes(text)});
}

Result<Savepoints> ObjectStore::savepoints() {
  const auto listing = client_->list(savepoint_key(""), false);
  if (!listing) return listing.error();
  Savepoints found;
  for (const std::string& key : listing->keys) {
    const std::string name(last_word(key));
    if (!is_savepoint_name(name) || key != savepoint_key(name)) continue;
    const auto read = client_->get(key, 0, savepoint_bytes_max);
    if (!read && read.error().code == Errc::not_found) continue;  // Deleted since.
    if (!read) return read.error();
    const auto snapshot = decode_savepoint(path_of(key), name, read->content);
    // What is whole was given before no name ended so, and keeps its snapshot.
    if (!snapshot && snapshot.error().code == Errc::corrupt && ends_in_uuid(name)) continue;
    if (!snapshot) return snapshot.error();
    found.emplace(name, *snapshot);
  }
  return found;
}

Result<Done> ObjectStore::delete_savepoint(const std::string& name) {
  if (auto fits = check_savepoint_name(name); !fits) return fits;
  const auto there = client_->head(savepoint_key(name));
  if (!there) return there.error();
  return client_->remove(savepoint_key(name));
}

Result<Done> ObjectStore::set_released(SnapshotId snapshot, bool released) {
  if (!released) return client_->remove(released_key(snapshot));
  return client_->put(released_key(snapshot), {});
}

Result<Done> ObjectStore::remove(SnapshotId snapshot) {
  // The manifest goes first, so that nothing that stops this leaves one without its parts.
  if (auto removed = client_->remove(manifest_key(snapshot)); !removed) return removed;
  const auto keep = needed();
  if (!keep) return keep.error();
  if (auto cleared = clear(snapshot, *keep); !cleared) return cleared;
  // Those that were kept for this one, and for no other. Newer ones may be under way.
  const auto all = numbers();
  if (!all) return all.error();
  for (const SnapshotId older : *all) {
    if (older >= snapshot) break;
    auto is = is_complete(older);
    if (!is) return is.error();
    if (*is) continue;
    if (auto cleared = clear(older, *keep); !cleared) return cleared;
  }
  return Done{};
}

Result<std::shared_ptr<JobLock>> ObjectStore::lock(const JobClaim& claim) {
  // One try each: who keeps a lease tries again by itself, in time.
  auto client = connect_({.request = {.connect = std::chrono::milliseconds(2'000),
                                      .silent = std::chrono::seconds(2),
                                      .all = std::chrono::seconds(5)},
                          .retry_for = std::chrono::milliseconds(0)});
  if (!client) return client.error();
  auto lock = ObjectLock::take(*std::move(client), place_.key(lock_name), place_.name, claim,
                               settings_.lease);
  if (!lock) return lock.error();
  const std::lock_guard guard(mutex_);
  lock_ = *lock;
  return std::shared_ptr<JobLock>(*std::move(lock));
}

Result<std::unique_ptr<ObjectStore>> ObjectStore::open(ObjectPlace place, ConnectToObjects connect,
                                                       bool create, ObjectStoreSettings settings) {
  ObjectPatience soon = settings.patience;
  soon.retry_for = std::min(soon.retry_for, settings.open_for);
  const auto looking = connect(soon);
  if (!looking) return looking.error();
  const auto mark = (*looking)->read_lease(place.key(lock_name));
  if (!mark) return mark.error();
  if (!*mark) {
    // Any snapshot marks it as well: the loss of one object is not that of the job.
    const auto listing = (*looking)->list(place.key(""), true);
    if (!listing) return listing.error();
    const bool marked =
        std::any_of(listing->folders.begin(), listing->folders.end(),
                    [](const auto& one) { return snapshot_of_folder(last_word(one)).has_value(); });
    const bool empty = listing->keys.empty() && listing->folders.empty();
    if (!marked && !empty) {
      const std::string& other =
          listing->keys.empty() ? listing->folders.front() : listing->keys.front();
      return Error{Errc::config,
                   concat(place.name, ": want snapshots, found something else, \"", other, "\"")};
    }
    if (!marked && !create) {
      return Error{Errc::not_found, concat(place.name, ": want snapshots, found nothing")};
    }
  }
  auto client = connect(settings.patience);
  if (!client) return client.error();
  std::string job = *mark ? Lease::job_of_holder((*mark)->text) : "";
  return std::make_unique<ObjectStore>(std::move(place), std::move(connect), settings,
                                       *std::move(client), std::move(job));
}

}  // namespace piracema::store
