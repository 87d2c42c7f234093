#include <algorithm>

#include "base/text.h"
#include "smr/node/client_engine.h"

/// What a client asks for again, or gives up.
namespace piracema::smr {

void ClientEngine::tick() {
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
    if (again && byzantine_ && asked.done) to_order.push_back(std::move(read->second));
    if (again && !byzantine_) {
      asked.next_try = time + tick_interval;
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
