#include <algorithm>

#include "base/text.h"
#include "smr/client/client_engine.h"

/// What a client asks for again, or gives up.
namespace piracema::smr {

namespace {
// A replica that is behind may not know yet of a client that was admitted a moment ago.
constexpr std::chrono::milliseconds until_believed{1'000};
}  // namespace

bool ClientEngine::is_stranger() const {
  std::size_t refusing = 0;
  for (const MemberInfo& member : view_.members) {
    const auto found = callers_.find(member.id);
    if (found == callers_.end()) continue;
    const auto since = found->second->refused_since();
    refusing += since && now() - *since >= until_believed ? 1 : 0;
  }
  return refusing >= view_.quorum();
}

// What waits for a session was never sent.
void ClientEngine::give_up_as_stranger() {
  const std::string why = concat("the replicas do not know this client (", trouble(), ")");
  std::vector<std::pair<Done, std::string>> told;
  for (AskedPtr& asked : waiting_) {
    told.emplace_back(std::move(asked->done), concat(why, "; it was not executed"));
  }
  waiting_.clear();
  for (auto& [token, asked] : reads_) told.emplace_back(std::move(asked->done), why);
  reads_.clear();
  each_asked([&](Asked& asked) {
    // The session itself is asked for until there is one: somebody may admit this client.
    if (asked.done && asked.request.kind != Kind::open) {
      told.emplace_back(std::move(asked.done),
                        concat(why, "; nobody knows whether it was executed"));
      asked.done = nullptr;
    }
  });
  for (const auto& [done, what] : told) {
    if (done) done(Error{Errc::refused, what});
  }
}

void ClientEngine::tick() {
  if (is_stranger()) give_up_as_stranger();
  const Time time = now();
  std::vector<Done> late;
  const auto look = [&](Asked& asked) {
    if (asked.done && asked.deadline <= time) late.push_back(std::move(asked.done));
    if (asked.next_try > time) return false;
    asked.pause = std::min(2 * std::max(asked.pause, retry_.first), retry_.longest);
    asked.next_try = time + asked.pause;
    return true;
  };
  // One that is late is asked on for, so that its place in the window becomes free.
  each_asked([&](Asked& asked) {
    if (look(asked)) send_to_all(submit_kind, asked.encoded);
  });
  std::vector<AskedPtr> to_order;
  for (auto read = reads_.begin(); read != reads_.end();) {
    Asked& asked = *read->second;
    const bool again = look(asked);
    const bool held = asked.is_held;
    if (again && byzantine_ && asked.done && !held) to_order.push_back(std::move(read->second));
    if (again && (!byzantine_ || held)) {
      asked.next_try = time + (held ? Time(hold_time) : Time(tick_interval));
      send_read(read->first, asked);
    }
    const bool over = !read->second || !read->second->done;
    read = over ? reads_.erase(read) : std::next(read);
  }
  std::erase_if(waiting_, [&](AskedPtr& asked) {
    if (asked->deadline > time) return false;
    late.push_back(std::move(asked->done));
    return true;
  });
  const bool idle = reads_.empty() && waiting_.empty() && sessionless_.empty() && oldest_ == next_;
  timer_.reset();
  if (!idle) timer_ = poller_.at(time + tick_interval, [this] { tick(); });
  for (AskedPtr& asked : to_order) order_instead(std::move(asked));
  for (const Done& done : late) {
    done(Error{
        Errc::timeout,
        concat("no answer in time from the replicas", trouble().empty() ? "" : " (", trouble(),
               trouble().empty() ? "" : ")", "; it may be executed all the same")});
  }
}

}  // namespace piracema::smr
