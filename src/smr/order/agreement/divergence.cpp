#include "smr/order/agreement/divergence.h"

#include <algorithm>

#include "base/text.h"

namespace piracema::smr {

Divergence::Divergence(ReplicaId me, Parted parted, std::size_t one_correct, Time resend_interval)
    : me_(me),
      parted_(std::move(parted)),
      one_correct_(one_correct),
      resend_interval_(resend_interval) {
  told_[me_];
  for (const ReplicaId other : parted_.others) told_[other];
}

void Divergence::begin(Time now, std::vector<Action>& out) {
  over_at_ = now + 10 * resend_interval_;
  ask_again_ = now + resend_interval_;
  ask_for_missing(out);
}

void Divergence::tick(Time now, std::vector<Action>& out) {
  if (now < ask_again_) return;
  ask_again_ = now + resend_interval_;
  ask_for_missing(out);
}

void Divergence::ask(ReplicaId whom, Instance first, Instance last, bool operations,
                     std::vector<Action>& out) const {
  const TrailRequest request{first, last, operations};
  if (whom == me_) {
    out.emplace_back(TellTrail{me_, request});
  } else {
    out.emplace_back(Send{whom, message(request), false});
  }
}

void Divergence::ask_for_missing(std::vector<Action>& out) const {
  for (const auto& [replica, told] : told_) {
    if (!told.instances) ask(replica, parted_.same_after + 1, parted_.differs_after, false, out);
    const Instance instance = replica == me_ ? 0 : instance_of(told);
    if (instance == 0) continue;
    for (const ReplicaId one : {me_, replica}) {
      if (!told_.at(one).operations.contains(instance)) ask(one, instance, instance, true, out);
    }
  }
}

void Divergence::on_trail(ReplicaId from, const Trail& trail, std::vector<Action>& out) {
  const auto found = told_.find(from);
  if (found == told_.end()) return;
  Told& told = found->second;
  // The first word counts, and no more than was asked for is kept.
  if (!trail.operations) {
    if (told.instances) return;
    told.instances = trail;
  } else {
    const auto wanted = [&](const auto& one) { return instance_of(one.second) == trail.first; };
    if (std::none_of(told_.begin(), told_.end(), wanted)) return;
    if (!told.operations.try_emplace(trail.first, trail).second) return;
  }
  ask_for_missing(out);
}

Instance Divergence::instance_of(const Told& other) const {
  const auto& mine = told_.at(me_).instances;
  if (!mine || !other.instances || &other == &told_.at(me_)) return 0;
  const Instance first = std::max(mine->first, other.instances->first);
  for (Instance i = first;; ++i) {
    const Instance my_place = i - mine->first, place = i - other.instances->first;
    if (my_place >= mine->digests.size() || place >= other.instances->digests.size()) return 0;
    if (mine->digests[my_place] != other.instances->digests[place]) return i;
  }
}

std::optional<Divergence::Place> Divergence::place_of(const Told& other) const {
  const Instance instance = instance_of(other);
  const auto& mine = told_.at(me_).operations;
  const auto my_part = mine.find(instance), part = other.operations.find(instance);
  if (instance == 0 || my_part == mine.end() || part == other.operations.end()) {
    return std::nullopt;
  }
  const auto& a = my_part->second.digests;
  const auto& b = part->second.digests;
  const auto at = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  return Place{instance, static_cast<std::uint32_t>(at - a.begin())};
}

// Others that are correct and agree with each other find the same place; a liar finds any.
std::optional<Divergence::Place> Divergence::place() const {
  std::map<Place, std::size_t> found;
  for (const auto& [replica, told] : told_) {
    if (const auto place = place_of(told)) found[*place] += 1;
  }
  for (const auto& [place, count] : found) {
    if (count >= one_correct_) return place;
  }
  if (found.empty()) return std::nullopt;
  return found.begin()->first;
}

Instance Divergence::known_from(const Place& place) const {
  Instance from = 0;
  for (const auto& [replica, told] : told_) {
    if (place_of(told) != place) continue;
    const Instance first = std::max(told_.at(me_).instances->first, told.instances->first);
    from = from == 0 ? first : std::min(from, first);
  }
  return from;
}

std::string Divergence::what() const {
  std::string text = concat("the state of this replica (", me_, ") after instance ",
                            parted_.differs_after, " differs from that of ");
  if (parted_.others_agree) {
    text += "a quorum of the others";
  } else {
    for (std::size_t i = 0; i < parted_.others.size(); ++i) {
      text += concat(i == 0 ? "replica " : ", ", parted_.others[i]);
    }
    text += ", and no state has a quorum";
  }
  if (parted_.same_after > 0) text += concat("; it was the same after ", parted_.same_after);
  return text;
}

}  // namespace piracema::smr
