#include "control/detector/busy_watch.h"

#include <algorithm>

namespace piracema::cluster {

std::optional<BusyWatch::Busy> BusyWatch::heard(Time now, const runtime::Progress& progress) {
  const auto [place, is_new] = replicas_.try_emplace(
      progress.replica, Replica{.latest = progress, .heard_at = now, .tell_at = tell_after_});
  Replica& replica = place->second;
  const bool at_work = progress.calls % 2 == 1;
  const bool same =
      !is_new && replica.latest.calls == progress.calls && replica.latest.item == progress.item;
  replica.busy = same && at_work ? replica.busy + std::min(now - replica.heard_at, apart_) : Time{};
  replica.latest = progress;
  replica.heard_at = now;
  if (!at_work) return std::nullopt;
  Busy busy{.since = replica.busy, .tell = replica.busy >= replica.tell_at};
  if (progress.item != runtime::Progress::no_item) busy.item = progress.item;
  if (busy.tell) replica.tell_at *= 2;
  return busy;
}

}  // namespace piracema::cluster
