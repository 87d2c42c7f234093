#include "state/saved_files.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/ensure.h"
#include "state/group_ranges.h"

namespace piracema::state {

namespace {

std::uint32_t count_of(const std::vector<GroupRange>& groups) {
  return std::accumulate(
      groups.begin(), groups.end(), std::uint32_t{0},
      [](std::uint32_t sum, const GroupRange& range) { return sum + range.count(); });
}

}  // namespace

SavedFiles::SavedFiles(KeyGroups groups, KeyedStates& states) : groups_(groups), states_(states) {}

// Several former replicas may name one file, each for other groups.
void SavedFiles::restore(const std::vector<store::NamedFile>& files) {
  for (const store::NamedFile& named : files) {
    auto [at, is_new] = files_.try_emplace(named.file);
    File& file = at->second;
    if (is_new) {
      file.number = new_number();
      file.seal = named.seal;
    }
    file.groups.push_back(named.groups);
  }
  for (auto& [name, file] : files_) file.put_in_order();
}

bool SavedFiles::File::has(std::uint32_t group) const {
  return std::any_of(groups.begin(), groups.end(),
                     [group](const GroupRange& range) { return range.has(group); });
}

void SavedFiles::File::put_in_order() {
  std::sort(groups.begin(), groups.end(),
            [](const GroupRange& a, const GroupRange& b) { return a.first < b.first; });
}

// ---- reading ahead: a snapshot, and then what later ones have besides ------------------------

void SavedFiles::follow(const std::vector<store::NamedFile>& files) {
  ENSURE(!own_);
  for (auto& [name, file] : files_) file.before = std::exchange(file.groups, {});
  restore(files);
}

bool SavedFiles::names(const store::PartFile& file, std::uint32_t group) const {
  const auto found = files_.find(file);
  return found != files_.end() && found->second.has(group);
}

std::optional<std::array<bool, 256>> SavedFiles::struck(std::uint32_t group) const {
  std::array<bool, 256> numbers{};
  bool any = false;
  for (const auto& [name, file] : files_) {
    if (file.has(group)) continue;
    numbers[file.number] = true;
    any = any || std::any_of(file.before.begin(), file.before.end(),
                             [group](const GroupRange& range) { return range.has(group); });
  }
  return any ? std::optional(numbers) : std::nullopt;
}

void SavedFiles::followed() {
  for (auto& [name, file] : files_) {
    const auto before = count_of(std::exchange(file.before, {})), now = count_of(file.groups);
    if (now >= before) continue;
    // Groups have as much as each other, or nearly.
    file.bytes = file.bytes * now / before;
    file.entries = std::max(file.entries * now / before, in_use(file));
  }
  std::erase_if(files_, [](const auto& entry) { return entry.second.groups.empty(); });
}

bool SavedFiles::all_have_numbers() const {
  return std::all_of(files_.begin(), files_.end(),
                     [](const auto& entry) { return saved_in::is_file(entry.second.number); });
}

FileNumbers SavedFiles::join(const Kept& kept) {
  FileNumbers numbers{};
  for (const auto& [name, from] : kept.files) {
    auto [at, is_new] = files_.try_emplace(name);
    File& file = at->second;
    if (is_new) {
      file.number = new_number();
      file.seal = from.seal;
    }
    file.bytes += from.bytes;
    file.entries += from.entries;
    file.groups.insert(file.groups.end(), from.groups.begin(), from.groups.end());
    file.put_in_order();
    numbers[from.number] = file.number;
  }
  return numbers;
}

// ---- what is kept in the same process --------------------------------------------------------

SavedFiles::Kept SavedFiles::keep() {
  ENSURE(!own_);
  Kept kept;
  kept.files = std::move(files_);
  kept.allowance = allowance_;
  return kept;
}

// Ranges of groups that are gone are struck: if one comes back, entries of it may have been
// forgotten meanwhile because no file that was named had the key.
void SavedFiles::take_over(Kept kept, GroupRange of, GroupRange groups) {
  ENSURE(files_.empty());
  files_ = std::move(kept.files);
  allowance_ = kept.allowance;
  for (auto at = files_.begin(); at != files_.end();) {
    File& file = at->second;
    std::uint32_t before = 0, after = 0;
    std::vector<GroupRange> left;
    for (const GroupRange& range : file.groups) {
      before += common(range, of).count();
      const GroupRange still = common(range, groups);
      if (still.count() != 0) left.push_back(still);
      after += still.count();
    }
    file.groups = std::move(left);
    if (after == 0) {
      at = in_use(file) == 0 ? files_.erase(at) : leave(at);
      continue;
    }
    // Groups have as much as each other, or nearly.
    file.bytes = file.bytes * after / before;
    file.entries = std::max(file.entries * after / before, in_use(file));
    ++at;
  }
}

std::uint8_t SavedFiles::number_of(const store::PartFile& file) const {
  const auto found = files_.find(file);
  return found == files_.end() ? saved_in::none : found->second.number;
}

void SavedFiles::loaded(const store::PartFile& file, std::uint64_t bytes, std::uint64_t entries) {
  const auto found = files_.find(file);
  if (found == files_.end()) return;
  found->second.bytes += bytes;
  found->second.entries += entries;
}

void SavedFiles::begin(const store::PartFile& own, SnapshotId complete) {
  give_up_last(complete);
  std::uint64_t in_files = 0;
  for (auto file = files_.begin(); file != files_.end();) {
    in_files += in_use(file->second);
    const bool useless = in_use(file->second) == 0 || file->second.number == saved_in::none;
    file = useless ? leave(file) : std::next(file);
  }
  if (files_.size() >= files_max) merge_least();
  // Keys that are gone are in files, too: it may be a few more.
  const std::uint64_t changed = states_.size() - std::min(in_files, states_.size());
  double written = 0, used = 0;
  for (const auto& [name, file] : files_) {
    written += static_cast<double>(file.bytes);
    used += bytes_in_use(file);
  }
  // With changes all over, a fifth of what is written and twice the state in files go together.
  const double full = used > 0 ? written / used : 0;
  allowance_ += std::max(0.0, (full - 1.5) / 2) * static_cast<double>(changed);
  clean();
  own_ = own;
  plan_ = plan_for(new_number());
  if (!cleaned_) return;
  cleaned_->plan = plan_;
  cleaned_->plan.again[files_.at(cleaned_->file).number] = true;
  cleaned_->plan.only_changes = false;
}

// What was saved in a snapshot that was given up is nowhere; of one that has not become all that
// it should, nobody knows what was saved.
void SavedFiles::give_up_last(SnapshotId complete) {
  if (own_) {
    left_[plan_.number] = true;
    if (cleaned_) leave(files_.find(cleaned_->file));
  }
  cleaned_.reset();
  for (auto file = files_.begin(); file != files_.end();) {
    file = file->first.snapshot > complete ? leave(file) : std::next(file);
  }
}

SavedFiles::Files::iterator SavedFiles::leave(Files::iterator file) {
  ENSURE(file != files_.end());
  if (saved_in::is_file(file->second.number)) left_[file->second.number] = true;
  return files_.erase(file);
}

double SavedFiles::bytes_in_use(const File& file) const {
  if (file.entries == 0) return 0;
  return static_cast<double>(file.bytes) * static_cast<double>(in_use(file)) /
         static_cast<double>(file.entries);
}

void SavedFiles::merge_least() {
  std::vector<std::pair<double, store::PartFile>> all;
  for (const auto& [name, file] : files_) all.emplace_back(bytes_in_use(file), name);
  std::sort(all.begin(), all.end());
  const std::size_t count = std::min(all.size(), all.size() - files_max + merged);
  for (std::size_t i = 0; i < count; ++i) leave(files_.find(all[i].second));
}

SavedFiles::Files::iterator SavedFiles::emptiest() {
  return std::min_element(files_.begin(), files_.end(), [&](const auto& a, const auto& b) {
    return static_cast<double>(in_use(a.second)) * static_cast<double>(b.second.entries) <
           static_cast<double>(in_use(b.second)) * static_cast<double>(a.second.entries);
  });
}

void SavedFiles::clean() {
  while (!files_.empty()) {
    const auto file = emptiest();
    const auto used = static_cast<double>(in_use(file->second));
    if (used > allowance_) return clean_part(file);
    allowance_ -= used;
    leave(file);
  }
  allowance_ = 0;
}

// As many groups of its first range as there is room for.
void SavedFiles::clean_part(Files::iterator file) {
  const double each = static_cast<double>(in_use(file->second)) / count_of(file->second.groups);
  GroupRange& first = file->second.groups.front();
  const auto count =
      static_cast<std::uint32_t>(std::min(allowance_ / each, static_cast<double>(first.count())));
  if (count == 0) return;
  allowance_ -= each * count;
  const GroupRange range{first.first, first.first + count};
  first.first += count;
  if (first.count() == 0) file->second.groups.erase(file->second.groups.begin());
  if (file->second.groups.empty()) {
    leave(file);
  } else {
    cleaned_ = Cleaned{file->first, range, {}};
  }
}

std::uint8_t SavedFiles::new_number() {
  std::array<bool, 256> taken = left_;
  taken[saved_in::none] = true;
  for (const auto& [name, file] : files_) taken[file.number] = true;
  const auto free_one = [&] {
    const auto end = taken.begin() + saved_in::files + 1;
    const auto found = std::find(taken.begin(), end, false);
    return found == end ? saved_in::none : static_cast<std::uint8_t>(found - taken.begin());
  };
  if (const std::uint8_t number = free_one(); number != saved_in::none || !own_) return number;
  // Some two hundred snapshots were given up one behind the other.
  states_.forget(left_);
  for (std::size_t i = 0; i < left_.size(); ++i) taken[i] = taken[i] && !left_[i];
  left_ = {};
  return free_one();
}

CutPlan SavedFiles::plan_for(std::uint8_t number) const {
  CutPlan plan;
  plan.number = number;
  plan.again = left_;
  plan.only_changes = std::none_of(left_.begin(), left_.end(), [](bool left) { return left; });
  plan.again[saved_in::none] = plan.again[saved_in::none_ever] = true;
  plan.older.fill(!files_.empty());
  // The oldest one is read first.
  if (!files_.empty()) plan.older[files_.begin()->second.number] = false;
  return plan;
}

std::vector<store::NamedFile> SavedFiles::named() const {
  std::vector<store::NamedFile> all;
  for (const auto& [name, file] : files_) {
    for (const GroupRange& range : file.groups) all.push_back({name, range, file.seal});
  }
  return all;
}

void SavedFiles::saved(std::uint64_t bytes, std::uint64_t entries, std::uint64_t seal) {
  ENSURE(own_);
  left_ = {};
  cleaned_.reset();
  if (entries != 0) {
    files_[*own_] = {plan_.number, seal, bytes, entries, {{0, groups_.count()}}};
  }
  own_.reset();
}

}  // namespace piracema::state
