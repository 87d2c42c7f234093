#include "cluster/driver/store_thread.h"

#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/text.h"

namespace piracema::cluster {

StoreThread::StoreThread(store::SnapshotStore& store, std::function<void(Event)> tell)
    : store_(store), tell_(std::move(tell)) {}

void StoreThread::act(CommitSnapshot commit) {
  queue_.post([this, manifest = std::move(commit.manifest)]() mutable {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    manifest.created = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::seconds>(since_1970).count());
    if (auto done = store_.commit(manifest); !done) {
      return tell_(SnapshotCommitFailed{manifest.snapshot, done.error().message});
    }
    tell_(SnapshotCommitted{manifest.snapshot});
  });
}

// What only could not be read now, a process that is started may be able to read.
void StoreThread::act(const FindSnapshot& wanted) {
  finding_.post([this, snapshot = wanted.snapshot] {
    auto found = store_.find(snapshot);
    if (found) return tell_(SnapshotFound{});
    if (found.error().code != Errc::io && found.error().code != Errc::timeout) {
      return tell_(SnapshotGone{found.error().message});
    }
    log(Level::warning, found.error().message);
    tell_(SnapshotFound{});
  });
}

void StoreThread::act(const NameSnapshot& wanted) {
  queue_.post([this, wanted] {
    if (auto named = store_.add_savepoint(wanted.name, wanted.snapshot); !named) {
      return tell_(SnapshotNotNamed{wanted.snapshot, named.error().message});
    }
    tell_(SnapshotNamed{wanted.snapshot});
  });
}

void StoreThread::act(const DropSnapshot& drop) {
  queue_.post([this, snapshot = drop.snapshot] {
    if (auto dropped = store_.drop(snapshot); !dropped) {
      log(Level::warning, concat("snapshot ", snapshot, " stays: ", dropped.error().message));
    }
  });
}

}  // namespace piracema::cluster
