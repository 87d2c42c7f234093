#include <utility>

#include "base/text.h"
#include "smr/order/core/parts.h"

/// What happens because time has passed: leaders that are silent, requests that wait.
namespace piracema::smr {

void Core::Parts::on(Tick&) {
  if (!started) start();
  watch_leader();
  if (leadership.synced()) expire_requests();
  judge_leader();
  if (!leadership.content() && step.now() >= stop_again) ask_to_stop(leadership.wanted());
  if (look_again_at && step.now() >= *look_again_at) look_again();
  if (stuck() && step.now() >= say_again_at) say_again();
  tick_state();
  if (leadership.leads()) {
    propose();
    reads.confirm(std::max(next_instance - 1, fill_until));
    beat();
  }
}

// A replica that was stopped, or had no processor, finds all its timers run out at once, though
// nobody had the time to answer: what it missed is no fault of the leader's. Where everybody stood
// still, everybody finds so. A leader that stays silent is not forgiven a third time.
void Core::Parts::forgive_own_lateness(Time time) {
  const Time much = Time(settings.silence_timeout) / 4;
  if (!started || step.halted() || divergence || time - step.now() <= much ||
      SMR_MUTANT("blames_others"))
    return;
  const auto due = next_deadline();
  if (!due || time - *due <= much) return;
  const Time late = time - *due;
  if (!patience.forgive(time, late)) return;
  pool.forgive(late);
  leader_rate.begin(time,
                    leadership.leader());  // What it orders meanwhile is not known.
}

// The first step: timers begin, and what is known to be decided is executed again.
void Core::Parts::start() {
  started = true;
  patience.start(step.now());
  clock.start(step.now());
  leader_rate.begin(step.now(), leadership.leader());
  say_again_every = settings.resend_interval;
  say_again_at = step.now() + say_again_every;
  recover();
  clock.recovered(step.now());
  next_instance = progress.decided() + 1;
  step.persist(RegencyEntered{leadership.regency(), members.view().id});
  if (!leadership.synced()) {
    patience.wait_for_sync(step.now());
    send_stop_data();
  }
  // What it proposed before it crashed was perhaps not written down, and a second proposal for the
  // same place in the same regency could be taken for the first.
  if (leadership.is_leader() && !life.may_lead_in(leadership.regency()))
    demand("this leader has restarted");
}

void Core::Parts::watch_leader() {
  if (!leadership.synced()) {
    if (step.now() >= patience.sync_by()) demand("no SYNC in time");
    if (step.now() >= stop_data_again) send_stop_data();
  } else if (leadership.leads()) {
    // Another one may have it all. This one goes on catching up meanwhile, and is asked again.
    if (step.now() >= patience.ready_by() && is_behind_as_leader()) {
      demand(concat("this leader has decided ", progress.decided(), " and is to go on from ",
                    next_instance));
    }
  } else if (!leadership.is_leader() && step.now() >= patience.silent_at()) {
    demand(concat("nothing heard of leader ", leadership.leader()));
  }
}

bool Core::Parts::judges_leader() const {
  return members.byzantine() && leadership.synced() && leadership.votes() && leadership.content() &&
         !leadership.is_leader();
}

// One that lies may order just enough for nobody to lose patience.
void Core::Parts::judge_leader() {
  if (!judges_leader() || step.now() < leader_rate.next_deadline()) return;
  std::vector<ReplicaId> others;
  for (const MemberInfo& member : members.view().members) {
    if (member.id != leadership.leader() && member.id != members.me()) others.push_back(member.id);
  }
  if (const auto why = leader_rate.check(step.now(), others)) demand(*why);
}

// Paper 003, section 2.1.1: a request that is not ordered in time goes to all replicas, so that a
// client that told only some of us cannot bring the leader down alone; the second time a new leader
// is asked for.
void Core::Parts::expire_requests() {
  const Time timeout = patience.patient(settings.request_timeout);
  auto expired = pool.expire(step.now(), patience.for_requests());
  if (!expired.forward.empty()) leader_rate.forwarded();
  Forward part;
  std::size_t bytes = 0;
  for (Request& request : expired.forward) {
    bytes += request.operation.size() + request.proof.size();
    part.requests.push_back(std::move(request));
    if (bytes < settings.batch_bytes) continue;
    step.send_others(message(std::exchange(part, {})));
    bytes = 0;
  }
  if (!part.requests.empty()) step.send_others(message(std::move(part)));
  // A leader that only crashes favours nobody: while it decides, requests wait because there are
  // many of them.
  if (!members.byzantine() && patience.goes_on(step.now())) return;
  const auto at = timer_at();
  if (members.byzantine() && !leadership.leads() && progress.executed() == progress.decided() &&
      at && *at + 2 * timeout <= step.now()) {
    demand("the service's timer is not served");
  }
  if (expired.overdue) demand("requests have waited for too long");
}

std::optional<Time> Core::Parts::next_deadline() const {
  if (step.halted()) return std::nullopt;
  if (divergence) return divergence->next_deadline();
  if (!started || can_propose()) return step.now();
  if (leadership.leads() && reads.some_wait()) return step.now();
  std::optional<Time> next;
  const auto by = [&next](Time time) {
    if (!next || time < *next) next = time;
  };
  if (const auto deadline = state_deadline()) by(*deadline);
  const bool may_demand = leadership.votes() && leadership.content();
  if (!leadership.synced()) {
    by(stop_data_again);
    if (may_demand) by(patience.sync_by());
  } else {
    if (const auto deadline = pool.next_deadline(patience.for_requests())) by(*deadline);
    if (may_demand && !leadership.is_leader()) {
      by(patience.silent_at());
    }
  }
  if (judges_leader()) by(leader_rate.next_deadline());
  if (look_again_at) by(*look_again_at);
  if (leadership.leads()) by(beat_at);
  if (leadership.leads() && progress.executed() >= ticked_at) {
    if (const auto at = timer_at(); at && *at > step.now()) by(*at);
  } else if (const auto at = timer_at();
             members.byzantine() && may_demand && at && progress.executed() == progress.decided()) {
    const Time late = *at + 2 * patience.patient(settings.request_timeout);
    if (late > step.now()) by(late);
  }
  if (leadership.leads() && may_demand && is_behind_as_leader()) by(patience.ready_by());
  if (const auto at = reads.next_deadline(); at && leadership.leads()) by(*at);
  if (!leadership.content()) by(stop_again);
  if (stuck()) by(say_again_at);
  return next ? std::max(*next, step.now()) : next;
}

}  // namespace piracema::smr
