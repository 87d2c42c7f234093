#include <piracema/smr/lease.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "base/text.h"
#include "smr/recipes/ask.h"

namespace piracema::smr::kv {

namespace {

using std::chrono::milliseconds;
constexpr milliseconds lease_ttl_min{100};
constexpr milliseconds lease_ttl_max{std::chrono::hours{24 * 365}};
/// Questions without an answer; there is another one after a quarter of the time.
constexpr int outstanding_max = 8;

/// What is known of the lease; answers may come when the Lease is gone.
struct KnownLease {
  std::mutex mutex;
  std::condition_variable news;
  Time alive_until{};
  std::optional<Fence> guarded;
  int outstanding = 0;
  /// The group says so.
  bool ended = false;
  bool lost = false, released = false;
};

/// Of those who count on it: before the group counts it as ended, however clocks differ.
Time sure(milliseconds ttl) { return Time(ttl) - Time(ttl) / 8; }

}  // namespace

struct Lease::Parts {
  Parts(Invoker& asked, const LeaseOptions& chosen, Index number, Time until)
      : invoker(asked), options(chosen), id(number) {
    known->alive_until = until;
    thread = std::thread([this] { run(); });
  }
  ~Parts() {
    if (stop()) invoker.invoke_ordered(encode(Revoke{id}), [](const Result<Buffer>&) {});
  }

  void run();
  void renew();
  void look_at_guarded(const Fence& fence);
  /// Whether there is still something to be released.
  bool stop();

  Invoker& invoker;
  const LeaseOptions options;
  const Index id;
  const std::shared_ptr<KnownLease> known = std::make_shared<KnownLease>();
  std::mutex stopping;
  std::thread thread;
};

void Lease::Parts::run() {
  const Time interval = Time(options.ttl) / 4;
  Time next = now() + interval;
  std::unique_lock lock(known->mutex);
  while (!known->released) {
    const Time time = now();
    if (known->ended || time >= known->alive_until) {
      known->lost = true;
      lock.unlock();
      if (options.lost) options.lost();
      return;
    }
    if (time >= next) {
      next = time + interval;
      if (known->outstanding < outstanding_max) {
        const std::optional<Fence> guarded = known->guarded;
        known->outstanding += 1;
        lock.unlock();
        renew();
        if (guarded) look_at_guarded(*guarded);
        lock.lock();
        continue;
      }
    }
    known->news.wait_for(lock, std::min(next, known->alive_until) - time);
  }
}

void Lease::Parts::renew() {
  const Time asked = now();
  const Time sure_for = sure(options.ttl);
  invoker.invoke_ordered(encode(KeepAlive{id}), [=, known = known](const Result<Buffer>& answer) {
    const auto reply = answer ? decode_reply(*answer) : answer.error();
    const std::lock_guard lock(known->mutex);
    known->outstanding -= 1;
    if (!reply) return;  // Asked again soon.
    if (reply->status == Status::ok) {
      known->alive_until = std::max(known->alive_until, asked + sure_for);
    } else {
      known->ended = true;
    }
    known->news.notify_all();
  });
}

void Lease::Parts::look_at_guarded(const Fence& fence) {
  invoker.invoke_unordered(
      encode(Get{fence.key}), [token = fence.token, known = known](const Result<Buffer>& answer) {
        const auto reply = answer ? decode_reply(*answer) : answer.error();
        if (!reply) return;
        const bool holds = reply->status == Status::ok && reply->entries.size() == 1 &&
                           reply->entries[0].created == token;
        if (holds) return;
        const std::lock_guard lock(known->mutex);
        known->ended = true;
        known->news.notify_all();
      });
}

bool Lease::Parts::stop() {
  const std::lock_guard one(stopping);
  bool is_first = false;
  {
    const std::lock_guard lock(known->mutex);
    is_first = !std::exchange(known->released, true);
    known->news.notify_all();
  }
  if (thread.joinable()) thread.join();
  return is_first;
}

Result<std::unique_ptr<Lease>> Lease::grant(Invoker& invoker, const LeaseOptions& options) {
  if (options.ttl < lease_ttl_min || options.ttl > lease_ttl_max) {
    return Error{Errc::config, concat("a lease: want a time from 100 ms to a year, found ",
                                      options.ttl.count(), " ms")};
  }
  const Time asked = now();
  const auto ttl = static_cast<std::uint64_t>(std::chrono::nanoseconds(options.ttl).count());
  const auto reply = change(invoker, Grant{ttl});
  if (!reply) return reply.error();
  if (reply->status != Status::ok) return unexpected("a lease", *reply);
  return std::unique_ptr<Lease>(new Lease(
      std::make_unique<Parts>(invoker, options, reply->lease, asked + sure(options.ttl))));
}

Lease::Lease(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Lease::~Lease() = default;

Index Lease::id() const { return parts_->id; }

bool Lease::alive() const {
  const KnownLease& known = *parts_->known;
  const std::lock_guard lock(parts_->known->mutex);
  return !known.lost && !known.ended && !known.released && now() < known.alive_until;
}

void Lease::guard(const Fence& fence) {
  const std::lock_guard lock(parts_->known->mutex);
  parts_->known->guarded = fence;
}

Result<Done> Lease::release() {
  parts_->stop();
  for (bool more = true; more;) {
    const auto reply = change(parts_->invoker, Revoke{parts_->id});
    if (!reply) return reply.error();
    more = reply->more;  // Status::no_lease: it has ended already, which is what was wanted.
  }
  return Done{};
}

}  // namespace piracema::smr::kv
