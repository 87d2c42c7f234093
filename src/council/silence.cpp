#include "council/silence.h"

#include <algorithm>

namespace piracema::council {

std::optional<std::size_t> Silence::look(Time now, const Standing& standing) {
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

void Silence::failed(Time now, std::size_t seat) {
  Known& known = known_[seat];
  known.not_before = now + known.pause;
  known.pause = std::min<Time>(2 * known.pause, pause_max);
}

}  // namespace piracema::council
