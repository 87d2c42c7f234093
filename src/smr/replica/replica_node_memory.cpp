#include <algorithm>

#include "base/text.h"
#include "smr/order/agreement/amnesia.h"
#include "smr/replica/replica_node.h"
#include "wire/fields.h"

/// What replicas tell each other of their memory, and what this one says to people about it.
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

void ReplicaNode::link_changed(ReplicaId peer, bool up) {
  if (up) return tell_life(peer);
  inbox_.push_back(LinkLost{peer});
}

void ReplicaNode::tell_life(ReplicaId to) {
  peers_->send(to, life_kind, wire::encode(LifeTold{life_, lost_memory_, core_->is_silent()}));
}

void ReplicaNode::heard_life(ReplicaId from, Bytes bytes) {
  const auto told = wire::decode<LifeTold>(bytes);
  if (!told) return;
  switch (lives_.hear(from, *told)) {
    case PeerLives::Heard::known:
      return;
    case PeerLives::Heard::fresh:
      return write_lives();
    case PeerLives::Heard::forgetful:
      memory_lines_.log(Level::warning,
                        concat("replica ", from,
                               " was started as if for the first time, and has been here before: "
                               "nothing that it says counts"));
      return peers_->send(from, life_refused_kind, wire::encode(LifeRefused{told->life}));
  }
}

// A replica that was told to have lost its memory, or has the one that it had, is refused by nobody
// who is right.
void ReplicaNode::heard_refusal(ReplicaId from, Bytes bytes) {
  const auto refused = wire::decode<LifeRefused>(bytes);
  if (!refused || refused->life != life_ || lost_memory_ || !lives_.refused_by(from, view_)) return;
  fail({Errc::config,
        concat("replica ", from, " remembers this replica (", place_.id,
               ") with another memory: its "
               "directory was lost, and --first-start is not for that: start it with an empty "
               "directory, and without --first-start")});
}

// The first time after a while: a group that starts is no group that is lost.
void ReplicaNode::watch_memory(Time time) {
  const bool silent = core_->is_silent();
  std::vector<ReplicaId> away, mute;
  std::size_t here = silent ? 0 : 1;
  for (const MemberInfo& member : view_.members) {
    if (member.id == place_.id) continue;
    if (silent != was_silent_ && peers_->is_up(member.id)) tell_life(member.id);
    if (!peers_->is_up(member.id)) {
      away.push_back(member.id);
    } else if (lives_.is_silent(member.id) || lives_.is_forgetful(member.id)) {
      mute.push_back(member.id);
    } else {
      here += 1;
    }
  }
  was_silent_ = silent;
  if (memory_said_at_ == Time{}) memory_said_at_ = time;
  if (time - memory_said_at_ < say_again) return;
  memory_said_at_ = time;
  if (!view_.has(place_.id)) return;
  const std::string others =
      concat("; not connected: ", list_of(away),
             "; without the memory of what they had promised: ", list_of(mute));
  const char* const way_out =
      "; if the disks of more than f are lost it stays so: see 'When too many disks are lost' in "
      "the "
      "reference";
  if (silent) {
    const std::size_t needed = Amnesia::needed(view_);
    log(Level::warning,
        concat("still silent: this replica has lost what it had promised, and needs the "
               "word of ",
               needed, " others that have not, here are ", here, others,
               here < needed ? way_out : ""));
  } else if (here < view_.quorum()) {
    log(Level::warning, concat("nothing can be decided: want ", view_.quorum(), " of ", view_.n(),
                               " replicas, here are ", here, others, mute.empty() ? "" : way_out));
  }
}

StatusTold ReplicaNode::status() const {
  StatusTold told;
  told.view = core_->view().id;
  told.regency = core_->regency();
  told.leader = core_->leader();
  told.decided = core_->decided();
  told.is_member = view_.has(place_.id);
  told.silent = core_->is_silent();
  told.clients = clients_->links();
  std::tie(told.pieces, told.pieces_of) = core_->fetched();
  for (const MemberInfo& member : view_.members) {
    if (member.id != place_.id && peers_->is_up(member.id)) told.connected.push_back(member.id);
  }
  std::sort(told.connected.begin(), told.connected.end());
  return told;
}

void ReplicaNode::tell_figures(Time time) {
  if (!place_.figures || time - figures_told_ < figures_interval) return;
  figures_told_ = time;
  const StatusTold told = status();
  ReplicaFigures figures = count_.figures(time);
  figures.own = {.id = place_.id,
                 .view = told.view,
                 .regency = told.regency,
                 .leader = told.leader,
                 .decided = told.decided,
                 .is_member = told.is_member,
                 .silent = told.silent,
                 .clients = told.clients,
                 .connected = told.connected,
                 .pieces = told.pieces,
                 .pieces_of = told.pieces_of};
  for (const auto& replica : configuration_.replicas) {
    if (replica.id == place_.id) figures.own.address = replica.address;
  }
  const View& view = core_->view();
  for (std::size_t i = 0; i < view.members.size(); ++i) {
    const MemberInfo& member = view.members[i];
    const bool me = member.id == place_.id;
    figures.members.push_back({.id = member.id,
                               .address = member.address,
                               .connected = me || peers_->is_up(member.id),
                               .newest = me ? told.decided : core_->heard_of(i)});
  }
  std::sort(figures.members.begin(), figures.members.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  figures.quorum = static_cast<std::uint32_t>(view.quorum());
  figures.leads = core_->leads();
  figures.waiting = core_->waiting_requests();
  place_.figures(figures);
}

}  // namespace piracema::smr
