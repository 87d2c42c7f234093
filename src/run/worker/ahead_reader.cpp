#include "run/worker/ahead_reader.h"

#include <utility>

namespace piracema::runtime {

void AheadReader::read(SnapshotId snapshot, StatesToCome wanted, std::function<void()> done) {
  if (store_ == nullptr) return done();
  stopped_ = false;
  queue().post([this, snapshot, wanted = std::make_shared<StatesToCome>(std::move(wanted)),
                done = std::move(done)] {
    const std::lock_guard lock(mutex_);
    wanted->take_over(std::exchange(states_, {}));
    states_ = std::move(*wanted);
    states_.read(*store_, snapshot, [this] { return stopped_.load(); });
    done();
  });
}

void AheadReader::forget() {
  stopped_ = true;
  queue().post([this] {
    const std::lock_guard lock(mutex_);
    states_ = {};
  });
}

std::shared_ptr<state::KeptStates> AheadReader::take(const flow::ReplicaPlan& replica,
                                                     SnapshotId snapshot) {
  if (store_ == nullptr) return nullptr;
  std::unique_ptr<state::StatesAhead> states;
  {
    const std::lock_guard lock(mutex_);
    states = states_.take(replica);
  }
  return StatesToCome::bring(std::move(states), *store_, snapshot);
}

void AheadReader::dispose(std::shared_ptr<state::KeptStates> states) {
  queue().post([states = std::move(states)]() mutable { states.reset(); });
}

WorkQueue& AheadReader::queue() {
  std::call_once(begun_, [this] { queue_.emplace(WorkQueue::AtEnd::drop); });
  return *queue_;
}

}  // namespace piracema::runtime
