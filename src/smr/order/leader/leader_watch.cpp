#include "smr/order/leader/leader_watch.h"

#include <utility>
#include <vector>

#include "base/text.h"
#include "smr/order/step/earliest.h"

namespace piracema::smr {

LeaderWatch::LeaderWatch(const Settings& settings, Step& step, const Membership& members,
                         const Leadership& leadership, LeaderPatience& patience,
                         const Progress& progress, const Proposer& proposer, RequestPool& pool,
                         LeaderChange& change)
    : settings_(settings),
      step_(step),
      members_(members),
      leadership_(leadership),
      patience_(patience),
      progress_(progress),
      proposer_(proposer),
      pool_(pool),
      change_(change),
      rate_(settings) {}

void LeaderWatch::decided(std::size_t requests, bool by_leader) {
  rate_.decided(step_.now(), requests, pool_.size() != 0);
  patience_.decided(step_.now(), by_leader);
}

void LeaderWatch::heard() {
  patience_.hear(step_.now(), leadership_.synced() && pool_.size() == 0);
}

void LeaderWatch::forgive(Time now, Time late) {
  if (!patience_.forgive(now, late)) return;
  pool_.forgive(late);
  begin(now);  // What it orders meanwhile is not known.
}

void LeaderWatch::tick() {
  watch();
  if (leadership_.synced()) expire_requests();
  judge();
  change_.repeat_stop();
}

void LeaderWatch::watch() {
  if (!leadership_.synced()) {
    if (step_.now() >= patience_.sync_by()) change_.demand("no SYNC in time");
    change_.repeat_stop_data();
  } else if (leadership_.leads()) {
    // Another one may have it all. This one goes on catching up meanwhile, and is asked again.
    if (step_.now() >= patience_.ready_by() && proposer_.is_behind()) {
      change_.demand(concat("this leader has decided ", progress_.decided(),
                            " and is to go on from ", proposer_.next()));
    }
  } else if (!leadership_.is_leader() && step_.now() >= patience_.silent_at()) {
    change_.demand(concat("nothing heard of leader ", leadership_.leader()));
  }
}

bool LeaderWatch::judges() const {
  return members_.byzantine() && leadership_.synced() && may_demand() && !leadership_.is_leader();
}

// One that lies may order just enough for nobody to lose patience.
void LeaderWatch::judge() {
  if (!judges() || step_.now() < rate_.next_deadline()) return;
  std::vector<ReplicaId> others;
  for (const MemberInfo& member : members_.view().members) {
    if (member.id != leadership_.leader() && member.id != members_.me()) {
      others.push_back(member.id);
    }
  }
  if (const auto why = rate_.check(step_.now(), others)) change_.demand(*why);
}

// Paper 003, section 2.1.1: a request that is not ordered in time goes to all replicas, so that a
// client that told only some of us cannot bring the leader down alone; the second time a new leader
// is asked for.
void LeaderWatch::expire_requests() {
  auto expired = pool_.expire(step_.now(), patience_.for_requests());
  if (!expired.forward.empty()) rate_.forwarded();
  Forward part;
  std::size_t bytes = 0;
  for (Request& request : expired.forward) {
    bytes += request.operation.size() + request.proof.size();
    part.requests.push_back(std::move(request));
    if (bytes < settings_.batch_bytes) continue;
    step_.send_others(message(std::exchange(part, {})));
    bytes = 0;
  }
  if (!part.requests.empty()) step_.send_others(message(std::move(part)));
  // A leader that only crashes favours nobody: while it decides, requests wait because there are
  // many of them.
  if (!members_.byzantine() && patience_.goes_on(step_.now())) return;
  const auto at = proposer_.timer_at();
  const Time timeout = patience_.patient(settings_.request_timeout);
  if (members_.byzantine() && !leadership_.leads() && progress_.executed() == progress_.decided() &&
      at && *at + 2 * timeout <= step_.now()) {
    change_.demand("the service's timer is not served");
  }
  if (expired.overdue) change_.demand("requests have waited for too long");
}

std::optional<Time> LeaderWatch::next_deadline() const {
  Earliest next;
  next.by(change_.next_deadline());
  if (leadership_.synced()) {
    next.by(pool_.next_deadline(patience_.for_requests()));
    if (may_demand() && !leadership_.is_leader()) next.by(patience_.silent_at());
  } else if (may_demand()) {
    next.by(patience_.sync_by());
  }
  if (judges()) next.by(rate_.next_deadline());
  if (leadership_.leads() && may_demand() && proposer_.is_behind()) next.by(patience_.ready_by());
  if (proposer_.may_tick() || !may_demand() || !members_.byzantine()) return next.time();
  const auto at = proposer_.timer_at();
  if (at && progress_.executed() == progress_.decided()) {
    const Time late = *at + 2 * patience_.patient(settings_.request_timeout);
    if (late > step_.now()) next.by(late);
  }
  return next.time();
}

}  // namespace piracema::smr
