#include "smr/service/service_thread.h"

#include <utility>

namespace piracema::smr {

namespace {

// Requests that are executed together: enough for all threads, and replies do not wait for long.
constexpr std::size_t requests_at_once = 1'024;

}  // namespace

ServiceThread::ServiceThread(Service& service, Executed executed)
    : service_(service), executed_(std::move(executed)) {
  serving_ = std::thread([this] { serve(); });
  writing_ = std::thread([this] { write_checkpoints(); });
}

ServiceThread::~ServiceThread() {
  letters_.end();
  serving_.join();
  checkpoints_.end();
  writing_.join();
}

void ServiceThread::execute(Execute decided) { letters_.put(std::move(decided)); }

void ServiceThread::post(std::function<void(Service&)> what) { letters_.put(std::move(what)); }

void ServiceThread::take_checkpoint(const TakeCheckpoint& due, Pieces pieces,
                                    std::function<void(Checkpoint)> taken,
                                    std::function<void()> skipped) {
  post([this, due, pieces, taken = std::move(taken),
        skipped = std::move(skipped)](Service& service) {
    const bool worth_it = service.checkpoint_due(due.ordered);
    if (!due.wanted) return;
    if (!worth_it) return skipped();
    checkpoints_.put([write = service.snapshot(pieces), taken] { taken(write()); });
  });
}

void ServiceThread::serve() {
  std::unique_lock lock(letters_.mutex);
  while (letters_.wait(lock)) {
    gather_batches();
    if (!batches_.empty()) {
      lock.unlock();
      service_.execute(batches_);
      executed_(batches_.back().instance, service_.timer());
      batches_.clear();
    } else {
      const auto what =
          std::move(std::get<std::function<void(Service&)>>(letters_.waiting.front()));
      letters_.waiting.pop_front();
      lock.unlock();
      what(service_);
    }
    lock.lock();
  }
}

// With the lock held.
void ServiceThread::gather_batches() {
  auto& waiting = letters_.waiting;
  for (std::size_t requests = 0; !waiting.empty() && requests < requests_at_once;) {
    auto* decided = std::get_if<Execute>(&waiting.front());
    if (decided == nullptr) return;
    requests += decided->batch->requests.size() + 1;
    batches_.push_back(std::move(*decided));
    waiting.pop_front();
  }
}

void ServiceThread::write_checkpoints() {
  std::unique_lock lock(checkpoints_.mutex);
  while (checkpoints_.wait(lock)) {
    const auto write = std::move(checkpoints_.waiting.front());
    checkpoints_.waiting.pop_front();
    lock.unlock();
    write();
    lock.lock();
  }
}

}  // namespace piracema::smr
