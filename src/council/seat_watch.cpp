#include "council/seat_watch.h"

#include <algorithm>

namespace piracema::council {

std::optional<SeatWatch::Due> SeatWatch::look(Time now, const Standing& standing,
                                              const std::set<std::string>& left) {
  if (const auto seat = silent(now, standing)) return Due{*seat, false};
  if (const auto seat = leaving(now, standing, left)) return Due{*seat, true};
  return std::nullopt;
}

std::optional<std::size_t> SeatWatch::silent(Time now, const Standing& standing) {
  const Time stopped = looked_at_ ? now - *looked_at_ : Time{};
  looked_at_ = now;
  const bool is_first = known_.empty();
  known_.resize(standing.members.size());
  std::optional<std::size_t> longest;
  for (std::size_t seat = 0; seat < known_.size(); ++seat) {
    Known& known = known_[seat];
    const std::uint32_t id = standing.members[seat].id;
    if (is_first || known.id != id) {
      // Whether that helps is not known before it is heard of.
      known.id = id;
      known.heard = standing.heard[seat];
      known.since = now;
    } else if (known.heard != standing.heard[seat]) {
      known = {.id = id, .heard = standing.heard[seat], .since = now};
    } else if (stopped > look_within) {
      known.since += stopped;
    }
    if (id == leader_ || now - known.since < silent_max || now < known.not_before) continue;
    if (!longest || known.since < known_[*longest].since) longest = seat;
  }
  return longest;
}

// Where there is no other machine for it, it stays as long as its own lasts.
std::optional<std::size_t> SeatWatch::leaving(Time now, const Standing& standing,
                                              const std::set<std::string>& left) const {
  const auto has_one = [&](const std::string& machine) {
    return std::any_of(standing.members.begin(), standing.members.end(),
                       [&](const Member& member) { return machine_of(member) == machine; });
  };
  const auto& hosts = standing.hosts;
  const bool is_room = std::any_of(hosts.begin(), hosts.end(), [&](const cluster::HostOfJob& host) {
    return host.wanted && !has_one(host.address);
  });
  if (!is_room) return std::nullopt;
  std::optional<std::size_t> own;
  for (std::size_t seat = 0; seat < standing.members.size(); ++seat) {
    const Member& member = standing.members[seat];
    // One machine may have several names.
    bool is_named = false, is_wanted = false;
    for (const cluster::HostOfJob& host : hosts) {
      if (host.address != machine_of(member)) continue;
      is_named = true;
      is_wanted = is_wanted || host.wanted;
    }
    if (!is_named || is_wanted || now < known_[seat].not_before) continue;
    // Whoever has started workers there may end with the coordinator, and they with it.
    if (!left.contains(machine_of(member))) continue;
    if (member.id != leader_) return seat;
    own = seat;
  }
  return own;
}

void SeatWatch::failed(Time now, std::size_t seat) {
  Known& known = known_[seat];
  known.not_before = now + known.pause;
  known.pause = std::min<Time>(2 * known.pause, pause_max);
}

}  // namespace piracema::council
