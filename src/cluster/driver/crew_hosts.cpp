// Processes of a job that agents on other hosts have started.

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "cluster/driver/crew.h"

namespace piracema::cluster {

void Crew::start_remote(Id id, std::size_t host) {
  const auto [place, added] = members_.try_emplace(id);
  ENSURE(added);
  place->second.host = host;
  place->second.heard_at = now();
}

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

void Crew::ended_remotely(Id id, const Exit& exit,
                          std::vector<std::pair<ReplicaId, std::uint64_t>> at_work) {
  const auto found = members_.find(id);
  // An agent may name any process; and one that is lost may speak again.
  if (found == members_.end() || !found->second.host || found->second.exit) return;
  found->second.exit = exit;
  found->second.was_at_work = std::move(at_work);
  settle(id);
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
