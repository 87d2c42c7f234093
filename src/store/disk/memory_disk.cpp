#include "store/disk/memory_disk.h"

#include <algorithm>
#include <limits>

#include "base/ensure.h"
#include "base/text.h"

namespace piracema::store {

namespace {

constexpr std::uint64_t sector_bytes = 512;
constexpr std::uint64_t without_limit = std::numeric_limits<std::uint64_t>::max();

Error io(const std::string& name, std::string_view what) {
  return Error{Errc::io, concat(name, ": ", what)};
}

}  // namespace

struct MemoryDisk::File {
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };

  std::string name;
  /// As a process reads it, and what is sure to be there after a crash.
  std::vector<std::byte> now, durable;
  std::vector<Range> unsynced;
};

class MemoryDisk::Handle final : public DiskFile {
 public:
  Handle(MemoryDisk& disk, std::shared_ptr<File> file)
      : disk_(disk), file_(std::move(file)), life_(disk.life_) {}

  std::uint64_t bytes() const override { return file_->now.size(); }

  Result<Done> read(std::uint64_t offset, std::span<std::byte> room) override {
    if (life_ != disk_.life_) return ended();
    const std::uint64_t size = file_->now.size();
    if (offset > size || room.size() > size - offset) {
      return Error{Errc::corrupt, concat(file_->name, ": want ", room.size(), " bytes at ", offset,
                                         ", found ", size, " in all")};
    }
    std::copy_n(file_->now.begin() + static_cast<std::ptrdiff_t>(offset), room.size(),
                room.begin());
    return Done{};
  }

  Result<Done> write(std::uint64_t offset, Bytes bytes) override {
    if (life_ != disk_.life_) return ended();
    if (auto changed = disk_.change(); !changed) return changed;
    const std::uint64_t size = file_->now.size();
    ENSURE(offset <= size && bytes.size() <= size - offset);
    if (const auto by = std::exchange(disk_.misdirect_by_, 0); by != 0) {
      offset = offset + by + bytes.size() <= size ? offset + by : 0;
    }
    std::copy(bytes.begin(), bytes.end(), file_->now.begin() + static_cast<std::ptrdiff_t>(offset));
    if (!bytes.empty()) file_->unsynced.push_back({offset, offset + bytes.size()});
    return Done{};
  }

  Result<Done> sync() override {
    if (life_ != disk_.life_) return ended();
    if (auto changed = disk_.change(); !changed) return changed;
    auto synced = disk_.sync_call();
    if (synced) {
      for (const auto [begin, end] : file_->unsynced) {
        std::copy(file_->now.begin() + static_cast<std::ptrdiff_t>(begin),
                  file_->now.begin() + static_cast<std::ptrdiff_t>(end),
                  file_->durable.begin() + static_cast<std::ptrdiff_t>(begin));
      }
    }
    file_->unsynced.clear();  // After a failure: the kernel takes it for written.
    return synced;
  }

 private:
  Error ended() const { return io(file_->name, "the process that opened it has ended"); }

  MemoryDisk& disk_;
  std::shared_ptr<File> file_;
  std::uint64_t life_;
};

MemoryDisk::MemoryDisk(std::uint64_t seed, CrashHabits habits)
    : random_(seed), habits_(habits), calls_left_(without_limit), capacity_(without_limit) {}
MemoryDisk::~MemoryDisk() = default;

Result<Done> MemoryDisk::change() {
  if (calls_left_ == 0) return io("disk", "the machine is off");
  if (calls_left_ != without_limit) calls_left_ -= 1;
  return Done{};
}

Result<Done> MemoryDisk::sync_call() {
  syncs_ += 1;
  if (failing_syncs_ == 0) return Done{};
  failing_syncs_ -= 1;
  return io("disk", "cannot sync: Input/output error");
}

Result<std::vector<std::string>> MemoryDisk::list() {
  if (calls_left_ == 0) return io("disk", "the machine is off");
  std::vector<std::string> names;
  for (const auto& [name, file] : names_) names.push_back(name);
  return names;
}

Result<std::unique_ptr<DiskFile>> MemoryDisk::create(const std::string& name, std::uint64_t bytes) {
  if (auto changed = change(); !changed) return changed.error();
  names_.erase(name);
  if (bytes > capacity_ || used() > capacity_ - bytes) {
    return io(name, concat("no room for ", bytes, " bytes: No space left on device"));
  }
  auto file = std::make_shared<File>();
  file->name = name;
  file->now.resize(static_cast<std::size_t>(bytes));
  file->durable.resize(static_cast<std::size_t>(bytes));
  names_[name] = file;
  name_changes_.push_back({name, file});
  return std::unique_ptr<DiskFile>(std::make_unique<Handle>(*this, std::move(file)));
}

Result<std::unique_ptr<DiskFile>> MemoryDisk::open(const std::string& name) {
  if (calls_left_ == 0) return io(name, "the machine is off");
  const auto found = names_.find(name);
  if (found == names_.end()) return Error{Errc::not_found, concat(name, ": no such file")};
  return std::unique_ptr<DiskFile>(std::make_unique<Handle>(*this, found->second));
}

// One step for a crash, as the rename is for a directory: before it is the old file, after it the
// new one, and neither is durable until the names are synced.
Result<Done> MemoryDisk::replace(const std::string& name, std::span<const Bytes> pieces) {
  auto file = std::make_shared<File>();
  file->name = name;
  for (const Bytes piece : pieces) file->now.insert(file->now.end(), piece.begin(), piece.end());
  if (file->now.size() > capacity_ || used() > capacity_ - file->now.size()) {
    return io(name, "cannot write: No space left on device");
  }
  if (auto synced = sync_call(); !synced) return synced;
  file->durable = file->now;
  if (auto changed = change(); !changed) return changed;
  names_[name] = file;
  name_changes_.push_back({name, file});
  return sync_names();
}

Result<Done> MemoryDisk::remove(const std::string& name) {
  if (auto changed = change(); !changed) return changed;
  if (names_.erase(name) != 0) name_changes_.push_back({name, nullptr});
  return Done{};
}

Result<Done> MemoryDisk::sync_names() {
  if (auto changed = change(); !changed) return changed;
  auto synced = sync_call();
  if (synced) durable_names_ = names_;
  name_changes_.clear();
  return synced;
}

void MemoryDisk::lose_unsynced(File& file) {
  for (const auto [begin, end] : file.unsynced) {
    for (std::uint64_t at = begin; at < end;) {
      const std::uint64_t sector_end = std::min(end, (at / sector_bytes + 1) * sector_bytes);
      std::uint64_t kept = random_.chance(habits_.loss) ? 0 : sector_end - at;
      if (kept > 0 && random_.chance(habits_.tear)) kept = random_.below(kept);
      std::copy_n(file.now.begin() + static_cast<std::ptrdiff_t>(at), kept,
                  file.durable.begin() + static_cast<std::ptrdiff_t>(at));
      at = sector_end;
    }
  }
  file.unsynced.clear();
  file.now = file.durable;
}

void MemoryDisk::crash() {
  for (const auto& [name, file] : name_changes_) {
    if (random_.chance(habits_.loss)) continue;
    if (file) {
      durable_names_[name] = file;
    } else {
      durable_names_.erase(name);
    }
  }
  name_changes_.clear();
  names_ = durable_names_;
  for (const auto& [name, file] : names_) lose_unsynced(*file);
  restart();
}

void MemoryDisk::restart() {
  life_ += 1;
  calls_left_ = without_limit;
}

void MemoryDisk::stop_after(std::uint64_t calls) { calls_left_ = calls; }

void MemoryDisk::lose_everything() {
  names_.clear();
  durable_names_.clear();
  name_changes_.clear();
  restart();
}

bool MemoryDisk::rot(const std::string& name, std::uint64_t offset, std::uint64_t bytes) {
  const auto found = names_.find(name);
  if (found == names_.end()) return false;
  File& file = *found->second;
  const std::uint64_t end = std::min<std::uint64_t>(file.now.size(), offset + bytes);
  for (std::uint64_t at = offset; at < end; ++at) {
    file.now[at] = ~file.now[at];
    file.durable[at] = file.now[at];
  }
  return true;
}

bool MemoryDisk::rot_somewhere(std::string_view prefix) {
  std::vector<std::pair<File*, std::uint64_t>> places;
  for (const auto& [name, file] : names_) {
    if (!name.starts_with(prefix)) continue;
    for (std::uint64_t at = 0; at < file->now.size(); ++at) {
      if (file->now[at] != std::byte{}) places.emplace_back(file.get(), at);
    }
  }
  if (places.empty()) return false;
  const auto [file, at] = places[random_.below(places.size())];
  file->now[at] ^= std::byte{1} << random_.below(8);
  file->durable[at] = file->now[at];
  return true;
}

std::uint64_t MemoryDisk::used() const {
  std::uint64_t bytes = 0;
  for (const auto& [name, file] : names_) bytes += file->now.size();
  return bytes;
}

}  // namespace piracema::store
