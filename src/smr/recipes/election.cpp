#include <piracema/smr/election.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "smr/recipes/ask.h"

namespace piracema::smr::kv {

namespace {

Result<std::optional<Leader>> ask_leader(Invoker& invoker, const std::string& key) {
  const auto reply = look(invoker, Get{key});
  if (!reply) return reply.error();
  if (reply->status == Status::not_found) return std::optional<Leader>();
  if (reply->status != Status::ok || reply->entries.size() != 1) {
    return unexpected("the entry of a leader", *reply);
  }
  return std::optional<Leader>({reply->entries[0].value, reply->entries[0].created});
}

}  // namespace

/// Looks again and again.
class Election::Observer {
 public:
  using Told = std::function<void(const std::optional<Leader>&)>;

  Observer(Invoker& invoker, const std::string& key, Told told)
      : invoker_(invoker), key_(key), told_(std::move(told)), thread_([this] { run(); }) {}
  ~Observer() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      wake_.notify_all();
    }
    thread_.join();
  }

 private:
  void run() {
    bool said = false;
    std::optional<Leader> last;
    std::unique_lock lock(mutex_);
    while (!stopped_) {
      lock.unlock();
      const auto leader = ask_leader(invoker_, key_);
      // A group that does not answer says nothing about who leads.
      if (leader && (!said || *leader != last)) {
        said = true;
        last = *leader;
        told_(last);
      }
      lock.lock();
      wake_.wait_for(lock, looks_every, [this] { return stopped_; });
    }
  }

  Invoker& invoker_;
  const std::string& key_;
  const Told told_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  std::thread thread_;
};

Election::Election(Invoker& invoker, std::string key) : invoker_(invoker), key_(std::move(key)) {}
Election::~Election() = default;

Result<Index> Election::campaign(const std::string& who, const LeaseOptions& options,
                                 std::optional<std::chrono::milliseconds> patience) {
  lock_.reset();
  auto lock = Lock::acquire(invoker_, key_, {.lease = options, .holder = who}, patience);
  if (!lock) return lock.error();
  lock_ = *std::move(lock);
  return lock_->token();
}

Result<Done> Election::resign() {
  if (!lock_) return Done{};
  const auto released = lock_->release();
  lock_.reset();
  return released;
}

std::optional<Fence> Election::fence() const {
  return lock_ ? std::optional(lock_->fence()) : std::nullopt;
}

Result<std::optional<Leader>> Election::leader() { return ask_leader(invoker_, key_); }

void Election::observe(std::function<void(const std::optional<Leader>&)> told) {
  observer_.reset();
  observer_ = std::make_unique<Observer>(invoker_, key_, std::move(told));
}

}  // namespace piracema::smr::kv
