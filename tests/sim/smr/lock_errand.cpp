#include "sim/smr/lock_errand.h"

#include "base/text.h"
#include "sim/smr/world.h"

namespace piracema::smr_sim {

using namespace smr;
using std::chrono::milliseconds;

namespace {

constexpr const char* lock_key = "lock";
constexpr const char* data_key = "data";

}  // namespace

LockErrand::LockErrand(World& world, ClientId client, Random& random)
    : world_(world), oracle_(world.locks()), client_(client), random_(random) {}

Errand::Wish LockErrand::next(std::uint32_t number) {
  const Doing doing = choose();
  asked_ = {doing, world_.now(), oracle_.floor(), client_ * 1'000'000 + number};
  // Who gives it back lets go before he asks.
  if (doing == Doing::unlock || doing == Doing::revoke) oracle_.lets_go(client_);
  return {operation(doing), doing == Doing::read || doing == Doing::watch, number};
}

LockErrand::Doing LockErrand::choose() {
  if (lease_ == 0) return Doing::grant;
  const auto dice = random_.below(100);
  if (token_ == 0) {
    return dice < 60   ? Doing::lock
           : dice < 75 ? Doing::keep
           : dice < 85 ? Doing::read
           : dice < 95 ? Doing::watch
                       : Doing::expire;
  }
  return dice < 45   ? Doing::write
         : dice < 60 ? Doing::keep
         : dice < 70 ? Doing::read
         : dice < 82 ? Doing::unlock
         : dice < 90 ? Doing::revoke
         : dice < 95 ? Doing::watch
                     : Doing::expire;
}

Buffer LockErrand::operation(Doing doing) {
  const kv::Fence fence{lock_key, token_};
  const std::string value = std::to_string(asked_.value);
  switch (doing) {
    case Doing::grant:
      ttl_ = milliseconds(20 + random_.below(180));
      return kv::encode(kv::Grant{static_cast<std::uint64_t>(ttl_.count())});
    case Doing::keep:
      return kv::encode(kv::KeepAlive{lease_});
    case Doing::lock:
      return kv::encode(kv::Put{.key = lock_key, .value = value, .expected = 0, .lease = lease_});
    case Doing::write:
      return kv::encode(kv::Put{.key = data_key, .value = value, .fence = fence});
    case Doing::read:
      return kv::encode(kv::Get{data_key});
    case Doing::unlock:
      return kv::encode(kv::Remove{.key = lock_key, .fence = fence});
    case Doing::revoke:
      return kv::encode(kv::Revoke{lease_});
    case Doing::expire:
      return kv::encode(kv::Expire{});
    case Doing::watch:
      break;
  }
  return kv::encode(kv::Watch{.key = lock_key, .from = watched_});
}

void LockErrand::answered(std::size_t, Bytes bytes) {
  const auto reply = kv::decode_reply(bytes);
  if (!reply || reply->status == kv::Status::bad_request) {
    return oracle_.complain("a reply of the key-value map makes no sense");
  }
  const bool ok = reply->status == kv::Status::ok;
  if (reply->status != kv::Status::compacted) oracle_.seen(reply->index, asked_.floor);
  switch (asked_.doing) {
    case Doing::grant:
      if (ok) lease_ = reply->lease;
      lease_until_ = trusted(asked_.at);
      break;
    case Doing::keep:
      if (!ok) return ended("a lease that was kept alive");
      lease_until_ = trusted(asked_.at);
      if (token_ != 0) oracle_.holds(client_, token_, lease_until_);
      break;
    case Doing::lock:
      if (ok) return locked(reply->entries.at(0).created);
      if (reply->status == kv::Status::no_lease) return ended("a lease");
      // It was this client itself, and its session went before the answer came.
      if (reply->entries.at(0).lease == lease_) locked(reply->entries[0].created);
      break;
    case Doing::write:
      if (!ok) return ended("a lock");
      oracle_.written(reply->index, token_, asked_.value);
      break;
    case Doing::read:
      oracle_.read(reply->index, ok ? std::stoull(reply->entries.at(0).value) : 0);
      break;
    case Doing::unlock:
      token_ = 0;
      break;
    case Doing::revoke:
      lease_ = token_ = 0;
      break;
    case Doing::expire:
      break;
    case Doing::watch:
      if (ok) oracle_.watched(watched_, *reply);
      watched_ = reply->index;
  }
}

void LockErrand::locked(kv::Index token) {
  token_ = token;
  oracle_.acquired(client_, token);
  oracle_.holds(client_, token, lease_until_);
}

// The service says that it has not what it trusts to have.
void LockErrand::ended(std::string_view what) {
  if (world_.now() < lease_until_) oracle_.ended_early(concat(what, " of client ", client_));
  lose_all();
}

void LockErrand::lose_all() {
  oracle_.lets_go(client_);
  lease_ = token_ = 0;
}

void LockErrand::abandoned(std::size_t) {
  if (asked_.doing == Doing::write) oracle_.perhaps_written(asked_.value);
  lose_all();
}

}  // namespace piracema::smr_sim
