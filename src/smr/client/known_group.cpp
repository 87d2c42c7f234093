#include "smr/client/known_group.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace piracema::smr::client {

namespace {
// A replica that is behind may not know yet of a client that was admitted a moment ago.
constexpr std::chrono::milliseconds until_believed{1'000};
}  // namespace

KnownGroup::KnownGroup(View view, std::vector<MemberInfo> added)
    : view_(std::move(view)), added_(std::move(added)), leader_(view_.leader(0)) {}

void KnownGroup::meet(const std::vector<MemberInfo>& some) {
  for (const MemberInfo& one : some) {
    const bool known = view_.has(one.id) ||
                       std::any_of(added_.begin(), added_.end(),
                                   [&](const MemberInfo& added) { return added.id == one.id; });
    if (!known) added_.push_back(one);
  }
}

KnownGroup::Calls KnownGroup::change_calls() {
  std::map<ReplicaId, const MemberInfo*> wanted;
  for (const MemberInfo& member : view_.members) wanted.emplace(member.id, &member);
  for (const MemberInfo& added : added_) wanted.emplace(added.id, &added);
  Calls calls;
  for (auto link = links_.begin(); link != links_.end();) {
    if (wanted.contains(link->first)) {
      ++link;
      continue;
    }
    calls.end.push_back(link->first);
    told_.erase(link->first);
    statuses_.erase(link->first);
    link = links_.erase(link);
  }
  for (const auto& [id, replica] : wanted) {
    if (links_.try_emplace(id).second) calls.begin.push_back(*replica);
  }
  return calls;
}

void KnownGroup::up(ReplicaId replica) {
  const auto found = links_.find(replica);
  if (found != links_.end()) found->second = {.is_up = true, .why = "", .refused_since = {}};
}

bool KnownGroup::down(Time now, ReplicaId replica, std::string why, bool is_refused) {
  const auto found = links_.find(replica);
  if (found == links_.end()) return false;
  LinkState& link = found->second;
  link.why = std::move(why);
  if (!is_refused) {
    link.refused_since.reset();
  } else if (!link.refused_since) {
    link.refused_since = now;
  }
  if (!std::exchange(link.is_up, false)) return false;
  told_.erase(replica);
  statuses_.erase(replica);
  return true;
}

std::size_t KnownGroup::links() const {
  return static_cast<std::size_t>(std::count_if(
      links_.begin(), links_.end(), [](const auto& each) { return each.second.is_up; }));
}

bool KnownGroup::is_stranger(Time now) const {
  std::size_t refusing = 0;
  for (const MemberInfo& member : view_.members) {
    const auto found = links_.find(member.id);
    if (found == links_.end()) continue;
    const auto& since = found->second.refused_since;
    refusing += since && now - *since >= until_believed ? 1 : 0;
  }
  return refusing >= view_.quorum();
}

bool KnownGroup::hear(ReplicaId from, const Standing& standing) {
  told_[from] = standing;
  if (!view_.has(from)) return false;
  if (is_byzantine()) {
    if (!standing_ || from == standing.leader) standing_ = standing;
    return false;
  }
  // Each view begins with regency 0.
  if (standing_ &&
      std::tie(standing.view, standing.regency) < std::tie(standing_->view, standing_->regency)) {
    return false;
  }
  standing_ = standing;
  return std::exchange(leader_, standing.leader) != standing.leader;
}

// Of what liars alone say nothing is believed. Who leads follows from the regency.
std::optional<ReplicaId> KnownGroup::believed_leader() const {
  std::map<Regency, std::size_t> sayers;
  for (const auto& [id, told] : told_) {
    if (view_.has(id) && told.view == view_.id) sayers[told.regency] += 1;
  }
  std::optional<ReplicaId> leader;
  for (const auto& [regency, count] : sayers) {
    if (count >= view_.one_correct()) leader = view_.leader(regency);
  }
  return leader;
}

std::optional<ReplicaId> KnownGroup::leader_to_ask() const {
  if (is_byzantine()) return std::nullopt;
  const auto found = links_.find(leader_);
  if (found == links_.end() || !found->second.is_up) return std::nullopt;
  return leader_;
}

std::size_t KnownGroup::arrived() const {
  std::size_t here = 0, further = 0;
  for (const auto& [id, told] : told_) {
    if (!view_.has(id)) continue;
    here += told.view == view_.id;
    further += told.view > view_.id;
  }
  return further < view_.one_correct() ? here : 0;  // Else a proof of the next is on the way.
}

bool KnownGroup::has_arrived(ReplicaId member) const {
  const auto found = told_.find(member);
  return found != told_.end() && found->second.view >= view_.id;
}

std::string KnownGroup::trouble() const {
  std::string text;
  for (const auto& [id, link] : links_) {
    if (link.is_up || link.why.empty()) continue;
    text += concat(text.empty() ? "" : "; ", "replica ", id, ": ", link.why);
  }
  return text;
}

std::string KnownGroup::trouble_with(ReplicaId replica) const {
  const auto found = links_.find(replica);
  return found == links_.end() || found->second.is_up ? "" : found->second.why;
}

}  // namespace piracema::smr::client
