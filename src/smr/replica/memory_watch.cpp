#include "smr/replica/memory_watch.h"

#include <string>
#include <vector>

#include "base/text.h"
#include "smr/order/agreement/amnesia.h"
#include "wire/fields.h"

namespace piracema::smr {

namespace {

/// A group that cannot go on says so again and again.
constexpr std::chrono::seconds say_again{10};

std::string list_of(const std::vector<ReplicaId>& ids) {
  std::string text;
  for (const ReplicaId id : ids) text += concat(text.empty() ? "" : ", ", id);
  return text.empty() ? "none" : text;
}

}  // namespace

void MemoryWatch::connected(ReplicaId peer, bool silent) const {
  host_.send(peer, life_kind, wire::encode(LifeTold{life_, lost_, silent}));
}

bool MemoryWatch::received(ReplicaId from, std::uint8_t kind, Bytes message, const View& view) {
  if (kind == life_kind) {
    heard_life(from, message);
  } else if (kind == life_refused_kind) {
    heard_refusal(from, message, view);
  } else {
    return false;
  }
  return true;
}

void MemoryWatch::heard_life(ReplicaId from, Bytes message) {
  const auto told = wire::decode<LifeTold>(message);
  if (!told) return;
  switch (lives_.hear(from, *told)) {
    case PeerLives::Heard::known:
      return;
    case PeerLives::Heard::fresh:
      return host_.write(lives_.encode());
    case PeerLives::Heard::forgetful:
      lines_.log(Level::warning,
                 concat("replica ", from,
                        " was started as if for the first time, and has been here before: "
                        "nothing that it says counts"));
      return host_.send(from, life_refused_kind, wire::encode(LifeRefused{told->life}));
  }
}

// A replica that was told to have lost its memory, or has the one that it had, is refused by nobody
// who is right.
void MemoryWatch::heard_refusal(ReplicaId from, Bytes message, const View& view) {
  const auto refused = wire::decode<LifeRefused>(message);
  if (!refused || refused->life != life_ || lost_ || !lives_.refused_by(from, view)) return;
  host_.failed({Errc::config,
                concat("replica ", from, " remembers this replica (", me_,
                       ") with another memory: its "
                       "directory was lost, and --first-start is not for that: start it with an "
                       "empty directory, and without --first-start")});
}

// The first time after a while: a group that starts is no group that is lost.
void MemoryWatch::tick(Time now, const View& view, bool silent) {
  std::vector<ReplicaId> away, mute;
  std::size_t here = silent ? 0 : 1;
  for (const MemberInfo& member : view.members) {
    if (member.id == me_) continue;
    const bool is_up = host_.is_up(member.id);
    if (silent != was_silent_ && is_up) connected(member.id, silent);
    if (!is_up) {
      away.push_back(member.id);
    } else if (lives_.is_silent(member.id) || lives_.is_forgetful(member.id)) {
      mute.push_back(member.id);
    } else {
      here += 1;
    }
  }
  was_silent_ = silent;
  if (said_at_ == Time{}) said_at_ = now;
  if (now - said_at_ < say_again) return;
  said_at_ = now;
  if (!view.has(me_)) return;
  const std::string others =
      concat("; not connected: ", list_of(away),
             "; without the memory of what they had promised: ", list_of(mute));
  const char* const way_out =
      "; if the disks of more than f are lost it stays so: see 'When too many disks are lost' in "
      "the reference";
  if (silent) {
    const std::size_t needed = Amnesia::needed(view);
    log(Level::warning,
        concat("still silent: this replica has lost what it had promised, and needs the word of ",
               needed, " others that have not, here are ", here, others,
               here < needed ? way_out : ""));
  } else if (here < view.quorum()) {
    log(Level::warning, concat("nothing can be decided: want ", view.quorum(), " of ", view.n(),
                               " replicas, here are ", here, others, mute.empty() ? "" : way_out));
  }
}

}  // namespace piracema::smr
