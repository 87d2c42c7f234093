#include "cluster/driver/lock_wait.h"

#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "store/disk/file_lock.h"

namespace piracema::cluster {

struct LockWait::State {
  std::mutex mutex;
  /// Null when nobody waits any more.
  net::Poller* poller = nullptr;
  std::optional<Result<Fd>> lock;
};

// Nothing ends a thread that waits for a lock but the lock, so nobody waits for the thread.
LockWait::LockWait(net::Poller& poller, const std::string& path)
    : state_(std::make_shared<State>()) {
  state_->poller = &poller;
  std::thread([state = state_, path] {
    auto lock = store::wait_to_lock_file(path);
    const std::lock_guard guard(state->mutex);
    if (state->poller == nullptr) return;
    state->lock = std::move(lock);
    state->poller->post([] {});
  }).detach();
}

LockWait::~LockWait() {
  const std::lock_guard guard(state_->mutex);
  state_->poller = nullptr;
}

bool LockWait::done() const {
  const std::lock_guard guard(state_->mutex);
  return state_->lock.has_value();
}

Result<Fd> LockWait::take() {
  const std::lock_guard guard(state_->mutex);
  return *std::exchange(state_->lock, std::nullopt);
}

}  // namespace piracema::cluster
