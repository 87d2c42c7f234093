#include "smr/order/views/newcomers.h"

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "smr/order/messages/settings.h"

namespace piracema::smr {

Newcomers::Newcomers(const View& view, const std::vector<ReplicaId>& added) : view_(view) {
  for (const ReplicaId id : added) added_[id];
}

void Newcomers::told(Time now, ReplicaId from, const Told& told) {
  if (view_.has(from)) {
    Instance& known = members_[from];
    known = std::max(known, told.decided);
    if (const auto at = group()) samples_.push_back({now, *at});
    while (samples_.size() > 1 && samples_.front().at + Time(newcomer_lag) < now) {
      samples_.pop_front();
    }
  }
  const auto found = added_.find(from);
  if (found == added_.end()) return;
  Newcomer& one = found->second;
  const Told before = one.told.value_or(Told{});
  const bool other = before.of != told.of;
  if (told.decided > before.decided || told.pieces > (other ? 0 : before.pieces)) steps_ += 1;
  one = {told, ""};
}

void Newcomers::lost(ReplicaId from, const std::string& why) {
  const auto found = added_.find(from);
  if (found != added_.end()) found->second = {std::nullopt, why};
}

// Nobody is believed alone to be further than the others, where one may lie.
std::optional<Instance> Newcomers::group() const {
  std::vector<Instance> all;
  for (const auto& [id, decided] : members_) all.push_back(decided);
  if (all.size() < view_.one_correct()) return std::nullopt;
  std::sort(all.begin(), all.end(), std::greater<>());
  return all[view_.one_correct() - 1];
}

bool Newcomers::is_near(const Newcomer& one) const {
  const Instance unproven = view_.model == FaultModel::byzantine ? milestone_interval : 0;
  return one.told && !one.told->silent && !samples_.empty() &&
         one.told->decided + unproven >= samples_.front().group;
}

bool Newcomers::are_near() const {
  if (added_.empty()) return true;
  return std::all_of(added_.begin(), added_.end(),
                     [this](const auto& one) { return is_near(one.second); });
}

std::string Newcomers::waits_for() const {
  const auto at = group();
  if (!at) return "no member says how far the group is";
  std::string text;
  for (const auto& [id, one] : added_) {
    if (is_near(one)) continue;
    text += concat(text.empty() ? "" : "; ", "replica ", id);
    if (!one.told) {
      text += ": " + (one.trouble.empty() ? std::string("no answer") : one.trouble);
    } else if (one.told->silent) {
      text += " is silent, as it was not started with --first-start";
    } else if (one.told->of > 0) {
      text += concat(" has ", one.told->pieces, " of ", one.told->of, " pieces of a checkpoint");
    } else {
      text += concat(" is at ", one.told->decided, ", the group at ", *at);
    }
  }
  return text;
}

}  // namespace piracema::smr
