#include "store/objects/object_store.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "store/objects/object_upload.h"
#include "store/snapshot/manifest_format.h"

namespace piracema::store {

namespace {

/// The word before the slash at its end.
std::string_view last_word(std::string_view folder) {
  if (folder.ends_with('/')) folder.remove_suffix(1);
  return folder.substr(folder.rfind('/') + 1);
}

}  // namespace

ObjectStore::ObjectStore(ObjectPlace place, ConnectToObjects connect, ObjectStoreSettings settings,
                         std::unique_ptr<ObjectClient> client, std::string job)
    : place_(std::move(place)),
      connect_(std::move(connect)),
      settings_(settings),
      client_(std::move(client)),
      parts_(*client_, place_),
      job_(std::move(job)) {}

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
  ObjectUpload upload(*client_, place_.part({snapshot, replica}));
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
      : store_(store), of_(of), upload_(*store.client_, store.place_.part(of)) {}

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
  const auto read = client_->read_lease(place_.lock());
  if (!read) return read.error();
  if (*read && Lease::job_of_holder((*read)->text) == job_) return Done{};
  return Error{Errc::refused, concat(place_.name, ": another job has it now")};
}

Result<Done> ObjectStore::commit(const Manifest& manifest) {
  const std::string key = place_.manifest(manifest.snapshot);
  const auto again = [&]() -> Result<Done> {
    const auto found = this->manifest(manifest.snapshot);
    if (found && found->is_again(manifest)) return Done{};
    if (!found && found.error().code == Errc::timeout) return found.error();
    return Error{Errc::refused,
                 concat(place_.path(key), ": want none yet, found the snapshot complete")};
  };
  const std::string folder = place_.folder(manifest.snapshot);
  const auto listing = client_->list(folder, false);
  if (!listing) return listing.error();
  const std::set<std::string> there(listing->keys.begin(), listing->keys.end());
  if (there.contains(key)) return again();
  for (const Part& part : manifest.parts) {
    const std::string wanted = place_.part({manifest.snapshot, part.replica});
    if (there.contains(wanted)) continue;
    return Error{Errc::not_found, concat(place_.path(wanted), ": no such object")};
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
  const std::string key = place_.manifest(snapshot);
  const auto read = client_->get(key, 0, manifest_bytes_max);
  if (!read) return read.error();
  return decode_manifest(place_.path(key), read->content, snapshot);
}

Result<Done> ObjectStore::find(std::optional<SnapshotId> snapshot) {
  const std::string key = snapshot ? place_.manifest(*snapshot) : place_.lock();
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

Result<Done> ObjectStore::clear(SnapshotId snapshot, const std::set<PartFile>& keep) {
  std::set<std::string> kept;
  for (const PartFile& file : keep) {
    if (file.snapshot == snapshot) kept.insert(place_.part(file));
  }
  const auto listing = client_->list(place_.folder(snapshot), false);
  if (!listing) return listing.error();
  for (const std::string& key : listing->keys) {
    if (kept.contains(key)) continue;
    if (auto removed = client_->remove(key); !removed) return removed;
  }
  parts_.forget(snapshot);
  return Done{};
}

Result<Done> ObjectStore::write_savepoint(const std::string& name, SnapshotId snapshot) {
  const std::string text = encode_savepoint(name, snapshot);
  return client_->put_new(place_.savepoint(name), {as_bytes(text)});
}

Result<Savepoints> ObjectStore::savepoints() {
  const auto listing = client_->list(place_.savepoint(""), false);
  if (!listing) return listing.error();
  Savepoints found;
  for (const std::string& key : listing->keys) {
    const std::string name(last_word(key));
    if (!is_savepoint_name(name) || key != place_.savepoint(name)) continue;
    const auto read = client_->get(key, 0, savepoint_bytes_max);
    if (!read && read.error().code == Errc::not_found) continue;  // Deleted since.
    if (!read) return read.error();
    const auto snapshot = decode_savepoint(place_.path(key), name, read->content);
    // What is whole was given before no name ended so, and keeps its snapshot.
    if (!snapshot && snapshot.error().code == Errc::corrupt && ends_in_uuid(name)) continue;
    if (!snapshot) return snapshot.error();
    found.emplace(name, *snapshot);
  }
  return found;
}

Result<Done> ObjectStore::delete_savepoint(const std::string& name) {
  if (auto fits = check_savepoint_name(name); !fits) return fits;
  const auto there = client_->head(place_.savepoint(name));
  if (!there) return there.error();
  return client_->remove(place_.savepoint(name));
}

Result<Done> ObjectStore::set_released(SnapshotId snapshot, bool released) {
  if (!released) return client_->remove(place_.released(snapshot));
  return client_->put(place_.released(snapshot), {});
}

Result<Done> ObjectStore::remove(SnapshotId snapshot) {
  // The manifest goes first, so that nothing that stops this leaves one without its parts.
  if (auto removed = client_->remove(place_.manifest(snapshot)); !removed) return removed;
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
  auto lock =
      ObjectLock::take(*std::move(client), place_.lock(), place_.name, claim, settings_.lease);
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
  const auto mark = (*looking)->read_lease(place.lock());
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
