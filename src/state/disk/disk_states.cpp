#include "state/disk/disk_states.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "state/group_ranges.h"

namespace piracema::state {

namespace {

// Some microseconds.
constexpr std::uint32_t saved_at_once = 8;

}  // namespace

/// A cut that is under way.
struct DiskStates::Saving {
  Saving(KeyedCut& of, const Database& database)
      : cut(of), then(database), at(database, &then), records(database, &then) {}

  /// The record with this key as it was then; nothing if there was none. Those that are looked for
  /// follow each other as a rule.
  Bytes record_at(Bytes key) {
    const auto is_before = [&] { return records.valid() && as_text(records.key()) < as_text(key); };
    if (is_before()) records.next();
    if (is_before() || !records.valid() || as_text(records.key()) != as_text(key)) {
      records.seek(key);
    }
    return records.valid() && as_text(records.key()) == as_text(key) ? records.value() : Bytes();
  }

  KeyedCut& cut;
  /// The one that ended with the cut.
  SavedVersions::Id version = 0;
  Database::Snapshot then;
  /// In the index, and at the records that it names.
  Database::Iterator at, records;
  std::vector<Stretch> stretches;
  std::size_t stretch = 0;
  /// `at` is within the stretch.
  bool is_placed = false;
};

DiskStates::DiskStates(StateTypes& types, std::unique_ptr<Database> database) : types_(&types) {
  content_.database = std::move(database);
  batch_ = std::make_unique<Database::Batch>(*content_.database);
}
DiskStates::DiskStates(Content content) : content_(std::move(content)) {}
DiskStates::~DiskStates() = default;

void DiskStates::own(KeyGroups groups, GroupRange range) {
  groups_ = groups;
  content_.owned = range;
}

std::uint32_t DiskStates::group_of(std::uint64_t mixed) const {
  const std::uint32_t group = groups_.group_of(mixed);
  if (!content_.owned.has(group)) foreign_key(group, content_.owned);
  return group;
}

// ---- items

// What is written was looked at just before, as a rule.
std::optional<DiskStates::Head> DiskStates::head_of(std::uint64_t mixed, Bytes key) {
  disk_record::put_key(mixed, key, record_key_);
  if (as_text(record_key_) == as_text(seen_key_)) return seen_;
  return look();
}

// At the record with `record_key_`, which `record_` is then.
std::optional<DiskStates::Head> DiskStates::look() {
  if (!content_.database->get(record_key_, record_)) return see(std::nullopt);
  return see(disk_record::head_of(record_));
}
std::optional<DiskStates::Head> DiskStates::see(std::optional<Head> head) {
  seen_key_.clear();
  seen_key_.append(record_key_.data(), record_key_.size());
  return seen_ = head;
}

bool DiskStates::get(std::uint64_t mixed, Bytes key, Buffer& state) {
  group_of(mixed);
  disk_record::put_key(mixed, key, record_key_);
  const auto head = look();
  state.clear();
  if (!head || !head->has_state) return false;
  const Bytes found = disk_record::state_of(record_);
  state.append(found.data(), found.size());
  return true;
}

void DiskStates::put(std::uint64_t mixed, Bytes key, Bytes state) {
  const auto was = head_of(mixed, key);
  const bool ever = was && (was->ever || was->version != content_.versions.now());
  write(mixed, key, was, {content_.versions.now(), true, ever}, state);
  content_.changed = true;
}

void DiskStates::erase(std::uint64_t mixed, Bytes key) {
  const auto was = head_of(mixed, key);
  if (!was || !was->has_state) return;
  content_.changed = true;
  // What no file has need not be said to be gone.
  if (!was->ever && was->version == content_.versions.now()) return forget_record(mixed, key, *was);
  write(mixed, key, was, {content_.versions.now(), false, true}, {});
}

// In place of `was`, which is what `head_of` has found just now.
void DiskStates::write(std::uint64_t mixed, Bytes key, const std::optional<Head>& was, Head head,
                       Bytes state) {
  enter(was, head);
  disk_record::put(head, state, written_);
  batch_->put(record_key_, written_);
  if (!was || was->version != head.version) {
    disk_record::put_index_key(head.version, mixed, key, index_key_);
    batch_->put(index_key_, {});
  }
  seen_key_.clear();
  content_.database->write(*batch_);
  see(head);
}

void DiskStates::forget_record(std::uint64_t mixed, Bytes key, const Head& was) {
  content_.versions.leave(was.version);
  if (was.has_state) content_.size -= 1;
  batch_->remove(record_key_);
  disk_record::put_index_key(was.version, mixed, key, index_key_);
  batch_->remove(index_key_);
  seen_key_.clear();
  content_.database->write(*batch_);
}

void DiskStates::enter(const std::optional<Head>& was, const Head& head) {
  if (was && was->has_state) content_.size -= 1;
  if (head.has_state) content_.size += 1;
  if (was && was->version == head.version) return;
  if (was) content_.versions.leave(was->version);
  content_.versions.enter(head.version);
}

void DiskStates::for_each(std::uint64_t from, Bytes key, const Use& use) {
  Database::Iterator at(*content_.database);
  Buffer first;
  disk_record::put_key(from, key, first);
  for (at.seek(first); at.valid() && at.key().front() == disk_record::mark; at.next()) {
    const Bytes record = at.value();
    if (!disk_record::head_of(record).has_state) continue;
    if (!use(disk_record::mixed_of(at.key()), disk_record::key_of(at.key()),
             disk_record::state_of(record))) {
      return;
    }
  }
}

std::uint64_t DiskStates::size() const {
  types_->write_back();
  return content_.size;
}

// ---- what is read

void DiskStates::load(const HashRange& range, Bytes bytes) {
  types_->read(bytes, StateTypes::Form::counted, [&](const StateTypes::Entry& entry) {
    const std::uint64_t rest = entry.mixed << groups_.bits();
    const bool is_in = groups_.group_of(entry.mixed) == range.group &&
                       rest >> 1 >> (63 - range.depth) == range.prefix;
    if (!is_in) throw DecodeError("it has a key of another range of hashes");
    const auto was = head_of(entry.mixed, entry.key);
    if (was) throw DecodeError("it has a key twice");
    write(entry.mixed, entry.key, was, {content_.versions.now(), true, false}, entry.state);
  });
  content_.changed = true;
}

std::uint64_t DiskStates::replay(std::uint32_t group, Bytes bytes, std::uint8_t number) {
  const bool is_file = saved_in::is_file(number);
  const SavedVersions::Id version =
      is_file ? content_.versions.of_file(number) : content_.versions.now();
  std::uint64_t entries = 0;
  types_->read(bytes, StateTypes::Form::marked, [&](const StateTypes::Entry& entry) {
    if (groups_.group_of(entry.mixed) != group) {
      throw DecodeError("it has a key of another group");
    }
    replay_entry(entry, version, is_file);
    entries += 1;
  });
  content_.changed = true;
  return entries;
}

void DiskStates::replay_entry(const StateTypes::Entry& entry, SavedVersions::Id version,
                              bool is_file) {
  const auto was = head_of(entry.mixed, entry.key);
  if (is_file && was && was->version == version) throw DecodeError("it has a key twice");
  write(entry.mixed, entry.key, was, {version, entry.has_state, true}, entry.state);
}

// ---- cuts

std::uint64_t DiskStates::in_file(std::uint8_t number) const {
  return content_.versions.records_in(number);
}

void DiskStates::forget(const std::array<bool, 256>& numbers) {
  content_.versions.forget(numbers);
  content_.changed = true;
}

bool DiskStates::changed() const {
  types_->write_back();
  return content_.changed;
}
void DiskStates::settle() {
  types_->write_back();
  content_.changed = false;
}

void DiskStates::begin_cut(KeyedCut& cut) {
  types_->write_back();
  end_cut();
  drop_empty_versions();
  content_.changed = false;
  saving_ = std::make_unique<Saving>(cut, *content_.database);
  // Groups one behind the other with one plan.
  for (std::uint32_t group = content_.owned.first; group < content_.owned.end;) {
    const CutPlan& plan = cut.plan(group);
    GroupRange groups{group, group + 1};
    while (groups.end < content_.owned.end && &cut.plan(groups.end) == &plan) groups.end += 1;
    for (const SavedVersions::Id version : content_.versions.in_files(plan.again)) {
      saving_->stretches.push_back({version, groups});
    }
    group = groups.end;
  }
  // From here on it is what the new file has: that is relied on once all of it is saved.
  saving_->version = content_.versions.cut(cut.plan(content_.owned.first).number);
}

void DiskStates::end_cut() { saving_.reset(); }

bool DiskStates::save_next() {
  if (saving_ == nullptr) return false;
  for (std::uint32_t saved = 0; saved < saved_at_once;) {
    if (saving_->stretch == saving_->stretches.size()) return saved != 0;
    const Stretch& stretch = saving_->stretches[saving_->stretch];
    if (!std::exchange(saving_->is_placed, true)) {
      disk_record::put_index_key(stretch.version,
                                 std::uint64_t{stretch.groups.first} << (64 - groups_.bits()), {},
                                 index_key_);
      saving_->at.seek(index_key_);
    } else {
      saving_->at.next();
    }
    const Bytes key = saving_->at.valid() ? saving_->at.key() : Bytes();
    const bool is_over = key.empty() || key.front() != disk_record::index_mark ||
                         disk_record::index_version_of(key) != stretch.version ||
                         groups_.group_of(disk_record::index_mixed_of(key)) >= stretch.groups.end;
    if (is_over) {
      saving_->stretch += 1;
      saving_->is_placed = false;
      continue;
    }
    save_record(disk_record::index_mixed_of(key), disk_record::index_key_of(key));
    saved += 1;
  }
  return true;
}

// As it was at the cut.
void DiskStates::save_record(std::uint64_t mixed, Bytes key) {
  const SavedVersions::Id version = saving_->stretches[saving_->stretch].version;
  disk_record::put_key(mixed, key, record_key_);
  const Bytes record = saving_->record_at(record_key_);
  // It was written again before the cut, or is gone.
  if (record.empty() || disk_record::head_of(record).version != version) return;
  const std::uint32_t group = groups_.group_of(mixed);
  const CutPlan& plan = saving_->cut.plan(group);
  const bool has_state = disk_record::head_of(record).has_state;
  // Of a version that was saved before, but for that of this cut, whose file is known already.
  const bool is_older = version != saving_->version;
  const std::uint8_t file = is_older ? content_.versions.file_of(version) : saved_in::none;
  const auto is_same = [&](const std::optional<Head>& now) {
    return now && now->version == version;
  };
  if (!has_state && !plan.older[file]) {
    // No file that is read has the key.
    if (const auto now = head_of(mixed, key); is_same(now)) forget_record(mixed, key, *now);
    return;
  }
  Buffer& out = saving_->cut.bytes();
  const std::size_t from = out.size();
  *out.extend(1) = static_cast<std::byte>(has_state ? 1 : 0);
  out.append(key.data(), key.size());
  const Bytes state = disk_record::state_of(record);
  out.append(state.data(), state.size());
  saving_->cut.saved(group, from, 1);
  if (!is_older) return;
  // What has not changed is in the new file now.
  const auto now = head_of(mixed, key);
  if (!is_same(now)) return;
  Head head = *now;
  head.version = saving_->version;
  write(mixed, key, now, head, state);
}

void DiskStates::drop_empty_versions() {
  Buffer end;
  for (const SavedVersions::Id version : content_.versions.drop_empty()) {
    disk_record::put_index_key(version, 0, {}, index_key_);
    disk_record::put_index_key(version + 1, 0, {}, end);
    batch_->remove_range(index_key_, end);
  }
  content_.database->write(*batch_);
}

// ---- another one

std::unique_ptr<KeyedStates> DiskStates::take_out() {
  types_->write_back();
  end_cut();
  batch_.reset();
  return std::unique_ptr<KeyedStates>(new DiskStates(std::move(content_)));
}

void DiskStates::take_over(KeyedStates& other) {
  auto& from = dynamic_cast<DiskStates&>(other);
  ENSURE(content_.size == 0);
  const GroupRange owned = content_.owned;
  batch_.reset();
  content_ = std::move(from.content_);
  batch_ = std::make_unique<Database::Batch>(*content_.database);
  seen_key_.clear();
  const GroupRange had = std::exchange(content_.owned, owned);
  for (const GroupRange& groups : rest_of(had, owned)) drop(groups);
}

void DiskStates::drop(GroupRange groups) {
  Buffer first;
  disk_record::put_key(std::uint64_t{groups.first} << (64 - groups_.bits()), {}, first);
  Database::Iterator at(*content_.database);
  for (at.seek(first); at.valid() && at.key().front() == disk_record::mark; at.next()) {
    if (groups_.group_of(disk_record::mixed_of(at.key())) >= groups.end) break;
    const Head head = disk_record::head_of(at.value());
    content_.versions.leave(head.version);
    if (head.has_state) content_.size -= 1;
    batch_->remove(at.key());
    content_.database->write(*batch_);
  }
}

}  // namespace piracema::state
