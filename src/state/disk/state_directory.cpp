#include "state/disk/state_directory.h"

#include <stdlib.h>

#include <filesystem>
#include <utility>

#include "base/text.h"
#include "state/disk/database.h"
#include "state/disk/disk_states.h"
#include "state/disk/rocks.h"
#include "store/disk/file_lock.h"

namespace piracema::state {

namespace {

namespace fs = std::filesystem;

constexpr const char* own_prefix = "piracema-states-";
// While somebody looks for what is left over, or makes a directory that is not locked yet.
constexpr const char* door_name = "piracema-states.lock";
constexpr const char* lock_name = "lock";

// Of processes that are gone. What cannot be removed is another user's, or next time's.
void remove_left_over(const std::string& path) {
  std::error_code ignored;
  for (fs::directory_iterator at(path, ignored), end; !ignored && at != end;
       at.increment(ignored)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(own_prefix)) continue;
    const auto lock = store::lock_file(concat(at->path().string(), "/", lock_name), "process");
    if (!lock) continue;
    std::error_code left;
    fs::remove_all(at->path(), left);
  }
}

}  // namespace

StateDirectory::StateDirectory(std::string own, Fd lock, std::uint64_t memory)
    : own_(std::move(own)), lock_(std::move(lock)), memory_(memory) {}

Result<std::unique_ptr<StateDirectory>> StateDirectory::open(const std::string& path,
                                                             std::uint64_t memory) {
  if (memory < memory_min) {
    return Error{Errc::config, concat("memory for states on disk: want at least ", memory_min,
                                      " bytes, found ", memory)};
  }
  if (const auto rocks = Rocks::load(); !rocks) return rocks.error();
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    return Error{Errc::config,
                 concat(path, ": cannot make a directory for states: ", error.message())};
  }
  const auto door = store::wait_to_lock_file(concat(path, "/", door_name));
  if (!door) return door.error();
  remove_left_over(path);
  std::string own = concat(path, "/", own_prefix, "XXXXXX");
  if (::mkdtemp(own.data()) == nullptr) return io_error(own, "cannot make");
  auto lock = store::lock_file(concat(own, "/", lock_name), "process");
  if (!lock) return lock.error();
  return std::unique_ptr<StateDirectory>(
      new StateDirectory(std::move(own), *std::move(lock), memory));
}

StateDirectory::~StateDirectory() { clear(); }

void StateDirectory::clear() {
  std::error_code ignored;
  fs::remove_all(own_, ignored);
}

std::unique_ptr<StoredStates> StateDirectory::make(StateTypes& types) {
  auto database = Database::make(concat(own_, "/", made_.fetch_add(1)), memory_);
  if (!database) throw StateError(database.error().message);
  return std::make_unique<DiskStates>(types, *std::move(database));
}

Result<std::unique_ptr<StateDirectory>> open_state_place(const std::string& path,
                                                         std::uint64_t memory) {
  if (path.empty()) return std::unique_ptr<StateDirectory>();
  return StateDirectory::open(path, memory == 0 ? StateDirectory::memory_usual : memory);
}

}  // namespace piracema::state
