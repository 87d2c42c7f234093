// Hosts whose agents have started processes of the job: what they say of them, and how they are
// lost.

#include <algorithm>
#include <utility>

#include "cluster/driver/crew.h"

namespace piracema::cluster {

bool Crew::found(Id id, std::size_t host) {
  const auto place = members_.find(id);
  if (place == members_.end()) return false;
  place->second.host = host;
  return true;
}

std::vector<Crew::Id> Crew::missing() const {
  std::vector<Id> all;
  for (const auto& [id, member] : members_) {
    if (!is_ours(member) && !member.joined) all.push_back(id);
  }
  return all;
}

void Crew::ended(Id id, const Exit& exit, Items at_work) {
  const auto found = members_.find(id);
  // An agent may name any process; and one that is lost may speak again.
  if (found == members_.end() || !found->second.host || found->second.exit) return;
  found->second.exit = exit;
  if (!found->second.was_at_work) found->second.was_at_work = std::move(at_work);
  settle(id);
}

void Crew::is_at(Id id, Items items) {
  const auto found = members_.find(id);
  if (found == members_.end() || !found->second.line_lost) return;
  found->second.was_at_work = std::move(items);
}

// Those that have joined are told as lost, and not as gone: they may live, and are fenced. One that
// has not is expected no longer, so that it does not matter whether it lives.
void Crew::host_lost(std::size_t host, const std::string& why) {
  std::vector<Id> there;
  for (const auto& [id, member] : members_) {
    if (member.host == host) there.push_back(id);
  }
  for (const Id& id : there) {
    Member& member = members_.at(id);
    if (!member.joined && !member.exit) {
      member.exit = Exit{.from_outside = true, .how = why};
    }
    if (member.exit) {
      tell_exit(id);
      continue;
    }
    const auto node = members_.extract(id);
    if (node.mapped().timer) poller_.cancel(*node.mapped().timer);
    if (node.mapped().line) node.mapped().line->close();
    if (!node.mapped().loss_told) events_.connection_lost(id);
  }
}

void Crew::give_up_starters(std::size_t host, const std::string& why) {
  std::vector<Id> there;
  for (const auto& [id, member] : members_) {
    if (member.host == host && !member.joined) there.push_back(id);
  }
  for (const Id& id : there) {
    Member& member = members_.at(id);
    kill(id, member);  // It is told when the host is heard again.
    if (!member.exit) member.exit = Exit{.from_outside = true, .how = why};
    tell_exit(id);
  }
}

void Crew::conditions(std::size_t host, const std::vector<Condition>& now) {
  for (auto& [id, member] : members_) {
    if (member.host == host) member.condition = {};
  }
  for (const Condition& condition : now) {
    const auto found = members_.find({condition.slot, condition.incarnation});
    if (found != members_.end() && found->second.host == host) found->second.condition = condition;
  }
}

std::size_t Crew::count_on(std::size_t host) const {
  return static_cast<std::size_t>(std::count_if(
      members_.begin(), members_.end(), [&](const auto& one) { return one.second.host == host; }));
}

}  // namespace piracema::cluster
