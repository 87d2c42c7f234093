#include "smr/service/executor/groups.h"

#include "base/ensure.h"
#include "base/text.h"

namespace piracema::smr {

Groups::Groups(unsigned threads) : threads_(threads) {
  ENSURE(threads >= 1 && threads <= threads_max);
}

Result<Done> Groups::add_conflict_group(std::uint32_t group, std::span<const unsigned> threads) {
  const auto refuse = [group](const auto&... why) {
    return Error{Errc::config, concat("conflict group ", group, ": ", why...)};
  };
  if (group < threads_) return refuse("want a number from ", threads_, " on: it is a thread's own");
  if (group == conflict_none || group == conflict_all) {
    return refuse("the number means no conflict, or all");
  }
  if (added_.contains(group)) return refuse("there is one already");
  if (threads.empty()) return refuse("want at least one thread");
  std::uint64_t bits = 0;
  for (const unsigned thread : threads) {
    if (thread >= threads_) {
      return refuse("want threads 0 to ", threads_ - 1, ", found ", thread);
    }
    bits |= std::uint64_t{1} << thread;
  }
  added_[group] = bits;
  return Done{};
}

std::uint64_t Groups::threads_of(std::uint32_t group) const {
  if (group < threads_) return std::uint64_t{1} << group;
  const auto found = added_.find(group);
  return found == added_.end() ? all() : found->second;
}

}  // namespace piracema::smr
