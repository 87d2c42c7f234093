#include <utility>

#include "base/text.h"
#include "smr/order/core/parts.h"

/// What happens because time has passed: leaders that are silent, requests that wait.
namespace piracema::smr {

void Core::Parts::on(Tick&) {
  if (!started) start();
  watch_leader();
  if (synced) expire_requests();
  judge_leader();
  if (!content() && step.now() >= stop_again) ask_to_stop(regencies.wanted());
  if (look_again_at && step.now() >= *look_again_at) look_again();
  if (stuck() && step.now() >= say_again_at) say_again();
  tick_state();
  if (leads()) {
    propose();
    confirm_reads();
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
  if (!due || time - *due <= much || forgiven == 2) return;
  forgiven += 1;
  const Time late = time - *due;
  // And then there is some time to hear of it.
  const Time grace = Time(settings.silence_timeout) / 2;
  const auto forgive = [&](Time& since, Time patience) {
    since = std::max(since + late, time + std::min(grace, patience / 2) - patience);
  };
  forgive(heard_leader, patient(settings.silence_timeout));
  progress_at += late;
  sync_by = std::max(sync_by + late, time + grace);
  ready_by = std::max(ready_by + late, time + grace);
  pool.forgive(late);
  leader_rate.begin(time,
                    members.view().leader(regency()));  // What it orders meanwhile is not known.
}

// The first step: timers begin, and what is known to be decided is executed again.
void Core::Parts::start() {
  started = true;
  heard_leader = regency_began = worked_until = progress_at = step.now();
  clock.start(step.now());
  leader_rate.begin(step.now(), members.view().leader(regency()));
  say_again_every = settings.resend_interval;
  say_again_at = step.now() + say_again_every;
  recover();
  clock.recovered(step.now());
  next_instance = progress.decided() + 1;
  step.persist(RegencyEntered{regency(), members.view().id});
  if (!synced) {
    sync_by = step.now() + settings.sync_timeout;
    send_stop_data();
  }
  // What it proposed before it crashed was perhaps not written down, and a second proposal for the
  // same place in the same regency could be taken for the first.
  if (members.view().leader(regency()) == members.me() && regency() < leads_from)
    demand("this leader has restarted");
}

void Core::Parts::watch_leader() {
  if (!synced) {
    if (step.now() >= sync_by) demand("no SYNC in time");
    if (step.now() >= stop_data_again) send_stop_data();
  } else if (leads()) {
    // Another one may have it all. This one goes on catching up meanwhile, and is asked again.
    if (step.now() >= ready_by && is_behind_as_leader()) {
      demand(concat("this leader has decided ", progress.decided(), " and is to go on from ",
                    next_instance));
    }
  } else if (members.view().leader(regency()) != members.me() &&
             step.now() >= heard_leader + patient(settings.silence_timeout)) {
    demand(concat("nothing heard of leader ", members.view().leader(regency())));
  }
}

bool Core::Parts::judges_leader() const {
  return members.byzantine() && synced && votes() && content() &&
         members.view().leader(regency()) != members.me();
}

// One that lies may order just enough for nobody to lose patience.
void Core::Parts::judge_leader() {
  if (!judges_leader() || step.now() < leader_rate.next_deadline()) return;
  std::vector<ReplicaId> others;
  for (const MemberInfo& member : members.view().members) {
    if (member.id != members.view().leader(regency()) && member.id != members.me())
      others.push_back(member.id);
  }
  if (const auto why = leader_rate.check(step.now(), others)) demand(*why);
}

// Paper 003, section 2.1.1: a request that is not ordered in time goes to all replicas, so that a
// client that told only some of us cannot bring the leader down alone; the second time a new leader
// is asked for.
void Core::Parts::expire_requests() {
  const Time timeout = patient(settings.request_timeout);
  auto expired = pool.expire(step.now(), request_patience());
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
  if (!members.byzantine() && progress_at + timeout > step.now()) return;
  const auto at = timer_at();
  if (members.byzantine() && !leads() && progress.executed() == progress.decided() && at &&
      *at + 2 * timeout <= step.now()) {
    demand("the service's timer is not served");
  }
  if (expired.overdue) demand("requests have waited for too long");
}

std::optional<Time> Core::Parts::next_deadline() const {
  if (step.halted()) return std::nullopt;
  if (divergence) return divergence->next_deadline();
  if (!started || can_propose()) return step.now();
  if (leads() && !reads_waiting.empty() && reads_asked.empty()) return step.now();
  std::optional<Time> next;
  const auto by = [&next](Time time) {
    if (!next || time < *next) next = time;
  };
  if (const auto deadline = state_deadline()) by(*deadline);
  const bool may_demand = votes() && content();
  if (!synced) {
    by(stop_data_again);
    if (may_demand) by(sync_by);
  } else {
    if (const auto deadline = pool.next_deadline(request_patience())) by(*deadline);
    if (may_demand && members.view().leader(regency()) != members.me()) {
      by(heard_leader + patient(settings.silence_timeout));
    }
  }
  if (judges_leader()) by(leader_rate.next_deadline());
  if (look_again_at) by(*look_again_at);
  if (leads()) by(beat_at);
  if (leads() && progress.executed() >= ticked_at) {
    if (const auto at = timer_at(); at && *at > step.now()) by(*at);
  } else if (const auto at = timer_at();
             members.byzantine() && may_demand && at && progress.executed() == progress.decided()) {
    const Time late = *at + 2 * patient(settings.request_timeout);
    if (late > step.now()) by(late);
  }
  if (leads() && may_demand && is_behind_as_leader()) by(ready_by);
  if (leads() && !reads_asked.empty()) by(read_again);
  if (!content()) by(stop_again);
  if (stuck()) by(say_again_at);
  return next ? std::max(*next, step.now()) : next;
}

}  // namespace piracema::smr
