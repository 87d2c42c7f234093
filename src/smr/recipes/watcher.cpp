#include <piracema/smr/watcher.h>

#include <algorithm>
#include <thread>

#include "base/clock.h"
#include "base/text.h"

namespace piracema::smr::kv {

using std::chrono::milliseconds;

namespace {
constexpr milliseconds soon{50};
}

Watcher::Watcher(Client& client, std::string key, bool is_prefix, Index from)
    : client_(client), key_(std::move(key)), is_prefix_(is_prefix), from_(from) {}

Result<std::vector<Event>> Watcher::next(milliseconds patience) {
  const Time deadline = now() + Time(patience);
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - now());
    if (left.count() <= 0) return std::vector<Event>{};
    const Time asked_at = now();
    const auto answer = client_.invoke_held(encode(Watch{key_, is_prefix_, from_}), left);
    if (!answer && answer.error().code == Errc::timeout) continue;
    if (!answer) return answer.error();
    auto reply = decode_reply(*answer);
    if (!reply) return reply.error();
    if (reply->status == Status::compacted) {
      return Error{Errc::lost, concat("what happened to '", key_, "' after ", from_,
                                      " is no longer known, but from ", reply->index, " on")};
    }
    if (reply->status != Status::ok) {
      return Error{Errc::refused, concat("watching '", key_, "': ", name_of(reply->status))};
    }
    // A replica that is behind may know of an earlier place only.
    from_ = std::max(from_, reply->index);
    if (!reply->events.empty()) return std::move(reply->events);
    // A replica that holds as many reads as it may answers at once: then this one asks now and
    // then.
    if (now() - asked_at < Time(soon)) std::this_thread::sleep_for(std::min(left, soon));
  }
}

}  // namespace piracema::smr::kv
