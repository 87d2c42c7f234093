#include "run/relay/link_watch.h"

#include <algorithm>

namespace piracema::runtime {

namespace {

/// By a fifth, and by more than a hundred microseconds: whatever is nearer is as near.
bool differ(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t apart = a > b ? a - b : b - a;
  return apart > std::max(100u, std::max(a, b) / 5);
}

}  // namespace

void LinkWatch::begin(Epoch epoch, Time every) {
  epoch_ = epoch;
  every_ = every;
  // Another coordinator may ask, who knows nothing.
  for (auto& [slot, known] : known_) known.told_round_trip_us = 0;
}

LinksSeen LinkWatch::look(Time now, const std::vector<net::LinkState>& links, const Sent& sent) {
  LinksSeen seen{.epoch = epoch_};
  if (sent.packets != 0) seen.broadcast_bytes = sent.bytes / sent.packets;
  const double seconds = looked_ ? std::chrono::duration<double>(now - *looked_).count() : 0;
  std::uint64_t all = 0;
  for (const net::LinkState& link : links) {
    Known& known = known_[link.to];
    if (link.tcp.acknowledged < known.acknowledged) {  // The connection was made anew.
      known = {.told_round_trip_us = known.told_round_trip_us};
    }
    all += link.tcp.acknowledged - known.acknowledged;
    LinkSeen one{.to = link.to};
    look(known, link, seconds, one);
    if (known.told_round_trip_us == 0 || differ(known.told_round_trip_us, link.tcp.round_trip_us)) {
      one.round_trip_us = known.told_round_trip_us = link.tcp.round_trip_us;
    }
    if (one.bytes_per_second != 0 || one.round_trip_us != 0) seen.links.push_back(one);
  }
  if (seconds > 0) {
    seen.bytes_per_second = static_cast<std::uint64_t>(static_cast<double>(all) / seconds);
  }
  looked_ = now;
  next_ = now + every_;
  return seen;
}

// What a link has carried while there was something to send or to be acknowledged it can carry, and
// maybe more: the last bytes of each packet are waited for. It is what the link can carry if there
// was something all the time and it waited in a queue.
void LinkWatch::look(Known& known, const net::LinkState& link, double seconds, LinkSeen& seen) {
  known.bytes += link.tcp.acknowledged - known.acknowledged;
  known.busy_us_of_bytes += link.tcp.busy_us - known.busy_us;
  const double busy = static_cast<double>(link.tcp.busy_us - known.busy_us) * 1e-6;
  known.acknowledged = link.tcp.acknowledged;
  known.busy_us = link.tcp.busy_us;
  const bool queued = link.tcp.round_trip_now_us > 2 * link.tcp.round_trip_us;
  const bool full = seconds > 0 && busy >= nearly_all * seconds && queued;
  if (known.bytes < (full ? busy_bytes_to_tell : bytes_to_tell) || known.busy_us_of_bytes == 0) {
    return;
  }
  seen.bytes_per_second = static_cast<std::uint64_t>(static_cast<double>(known.bytes) * 1e6 /
                                                     static_cast<double>(known.busy_us_of_bytes));
  seen.at_least = !full;
  if (!link.tcp.at_least) {
    seen.bytes_per_second = std::max(seen.bytes_per_second, link.tcp.bytes_per_second);
    seen.at_least = false;
  }
  known.bytes = known.busy_us_of_bytes = 0;
}

}  // namespace piracema::runtime
