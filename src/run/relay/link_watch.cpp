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
  std::uint64_t all = 0;
  for (const net::LinkState& link : links) {
    Known& known = known_[link.to];
    // A connection that was made anew counts from 0.
    const bool is_new = link.acknowledged < known.acknowledged;
    const std::uint64_t bytes = link.acknowledged - (is_new ? 0 : known.acknowledged);
    known.acknowledged = link.acknowledged;
    all += bytes;
    LinkSeen one{.to = link.to};
    if (bytes >= bytes_to_tell) {
      one.bytes_per_second = link.bytes_per_second;
      one.at_least = link.at_least;
    }
    if (known.told_round_trip_us == 0 || differ(known.told_round_trip_us, link.round_trip_us)) {
      one.round_trip_us = known.told_round_trip_us = link.round_trip_us;
    }
    if (one.bytes_per_second != 0 || one.round_trip_us != 0) seen.links.push_back(one);
  }
  if (looked_ && now > *looked_) {
    const double seconds = std::chrono::duration<double>(now - *looked_).count();
    seen.bytes_per_second = static_cast<std::uint64_t>(static_cast<double>(all) / seconds);
  }
  looked_ = now;
  next_ = now + every_;
  return seen;
}

}  // namespace piracema::runtime
