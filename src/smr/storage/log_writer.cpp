#include "smr/storage/log_writer.h"

#include <chrono>
#include <utility>

namespace piracema::smr {

LogWriter::LogWriter(Host host) : host_(std::move(host)), thread_([this] { write(); }) {}

LogWriter::~LogWriter() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  filled_.notify_one();
  thread_.join();
}

void LogWriter::append(const LogRecord& record) {
  const EncodedMessage encoded = encode(record);
  const std::lock_guard lock(mutex_);
  Buffer& body = waiting_.group.begin();
  body.append(encoded.head.data(), encoded.head.size());
  if (encoded.body) body.append(encoded.body->data(), encoded.body->size());
  waiting_.group.end();
  waiting_.upto = ++appended_;
}

void LogWriter::post(std::function<void()> what) {
  const std::lock_guard lock(mutex_);
  waiting_.then.push_back(std::move(what));
}

void LogWriter::kick() {
  {
    const std::lock_guard lock(mutex_);
    if (kicked_ || waiting_.empty()) return;
    kicked_ = true;
  }
  filled_.notify_one();
}

namespace {
// A log that is quiet for so long gets a mark that is synced: damage to its end is told from a
// crash from then on (docs/formats/log.md).
constexpr std::chrono::milliseconds quiet{200};
}  // namespace

void LogWriter::write() {
  Work mine;
  bool settled = true;
  std::unique_lock lock(mutex_);
  while (true) {
    const auto called = [this] { return over_ || kicked_; };
    if (settled) {
      filled_.wait(lock, called);
    } else if (!filled_.wait_for(lock, quiet, called)) {
      settled = true;
      lock.unlock();
      if (auto done = host_.settle(); !done) return host_.failed(done.error());
      lock.lock();
      continue;
    }
    if (over_) return;
    std::swap(mine, waiting_);
    kicked_ = false;
    lock.unlock();
    if (!mine.group.empty()) {
      // Nothing says that more will not come: the mark behind it costs no sync of its own.
      if (auto done = host_.commit(mine.group, true); !done) return host_.failed(done.error());
      host_.durable(mine.upto);
      settled = false;
    }
    for (const auto& what : mine.then) what();
    mine.group.clear();
    mine.then.clear();
    lock.lock();
  }
}

}  // namespace piracema::smr
