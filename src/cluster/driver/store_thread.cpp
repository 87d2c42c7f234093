#include "cluster/driver/store_thread.h"

#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/text.h"

namespace piracema::cluster {

StoreThread::StoreThread(store::SnapshotStore& store, OnCommitted on_committed)
    : store_(store), on_committed_(std::move(on_committed)) {}

void StoreThread::commit(store::Manifest manifest) {
  queue_.post([this, manifest = std::move(manifest)]() mutable {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    manifest.created = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::seconds>(since_1970).count());
    on_committed_(manifest.snapshot, store_.commit(manifest));
  });
}

// What only could not be read now, a process that is started may be able to read.
void StoreThread::find(std::optional<SnapshotId> snapshot, std::function<void(Result<Done>)> tell) {
  finding_.post([this, snapshot, tell = std::move(tell)] {
    auto found = store_.find(snapshot);
    const bool later =
        !found && (found.error().code == Errc::io || found.error().code == Errc::timeout);
    if (later) {
      log(Level::warning, found.error().message);
      found = Done{};
    }
    tell(std::move(found));
  });
}

void StoreThread::name(SnapshotId snapshot, std::string name,
                       std::function<void(Result<Done>)> tell) {
  queue_.post([this, snapshot, name = std::move(name), tell = std::move(tell)] {
    tell(store_.add_savepoint(name, snapshot));
  });
}

void StoreThread::drop(SnapshotId snapshot) {
  queue_.post([this, snapshot] {
    if (auto dropped = store_.drop(snapshot); !dropped) {
      log(Level::warning, concat("snapshot ", snapshot, " stays: ", dropped.error().message));
    }
  });
}

}  // namespace piracema::cluster
