// Who is lost, and why; paper 000, section 4.1: what falls silent is replaced after a while, a
// process that dies at once, and everything goes back to the last valid global checkpoint.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "control/coordinator.h"

namespace piracema::cluster {

namespace {

// How long a process that was killed may take to be gone before its slot goes on without
// knowing. SIGKILL takes a millisecond; only a machine that does not answer takes longer.
constexpr milliseconds exit_wait{200};
// A Tick that comes later than this shows that it is the coordinator that did not run.
constexpr milliseconds lateness_max{300};
// A slot whose processes end before they join is tried again at once, then less and less often.
constexpr milliseconds start_pause{50}, start_pause_max{1'000};
// Waits double with every recovery that fails, up to this many times.
constexpr std::uint32_t doublings_max = 6;

milliseconds pause_before_start(std::uint32_t failed_starts) {
  if (failed_starts < 2) return milliseconds{0};
  return std::min(start_pause * (1u << std::min(failed_starts - 2, 8u)), start_pause_max);
}

}  // namespace

void Coordinator::on(const Exited& exited) {
  if (exited.slot >= members_.size()) return;
  Member& member = members_[exited.slot];
  member.gone(exited.incarnation);
  if (process(exited.slot, exited.incarnation) == nullptr) return;

  if (phase_ == Phase::leaving) {
    if (member.state() != Member::State::ending) member.end(now_);
    member.leave(now_, true);
    return;
  }
  if (epoch_ == 0 && !exited.from_outside && member.state() == Member::State::starting) {
    // An exit says that this is no program of ours, a signal that it was lost. But one that raises
    // a signal whenever it starts has done no work that could be saved by trying again.
    if (!exited.by_signal) {
      return fail(3,
                  concat("worker ", exited.slot, " did not join the job: its process ", exited.by));
    }
    if (member.failed_starts() + 1 >= settings_.restart_budget) {
      return fail(4,
                  concat("worker ", exited.slot, " could not be started ", settings_.restart_budget,
                         " times in a row: its process was ", exited.by));
    }
  }
  if (member.state() != Member::State::ending) {
    lose(exited.slot, concat("its process ended: ", exited.by));
  } else if (fatal_ == exited.slot) {
    fatal_how_ += concat("; its process ended: ", exited.by);
  }
  if (phase_ == Phase::finished) return;
  using Fault = Member::Fault;
  using Blame = RestartBudget::Blame;
  const Fault fault = member.fault();
  member_left(exited.slot, true);
  if (!job_ || fatal_ || (exited.from_outside && fault == Fault::none)) return;
  if (!exited.from_outside) return suspect(exited.slot, exited.at_work, Blame::certain, exited.by);
  // We have ended it, for what it did.
  if (fault == Fault::silent) {
    return suspect(exited.slot, exited.at_work, Blame::likely, silence());
  }
  suspect(exited.slot, exited.at_work, Blame::certain, "its connection ended");
}

void Coordinator::on(const ConnectionLost& lost) {
  const Member* member = process(lost.slot, lost.incarnation);
  if (member == nullptr || member->state() != Member::State::joined) return;
  if (phase_ != Phase::leaving) lose(lost.slot, "its connection ended", Member::Fault::hung_up);
}

// Nobody is blamed except by a Tick: it comes after all that has been said by then.
void Coordinator::on(const Tick&) {
  if (phase_ == Phase::leaving) return;
  for (Slot slot = 0; slot < members_.size() && phase_ != Phase::finished; ++slot) expire(slot);
}

void Coordinator::expire(Slot slot) {
  const Member& member = members_[slot];
  if (member.deadline() && now_ >= *member.deadline()) {
    switch (member.state()) {
      case Member::State::absent:
        return;
      case Member::State::starting:
        return lose(slot, concat("it did not join within ", settings_.join_timeout.count(), " ms"));
      case Member::State::joined:
        return lose(slot, silence(), Member::Fault::silent);
      case Member::State::ending:
        return member_left(slot, false);
    }
  }
  if (phase_ == Phase::restoring && member.ready_by() && now_ >= *member.ready_by()) {
    expire_rollback(slot);
  }
}

// A worker is not ready before all its peers are connected, so one that has frozen keeps the
// others from it. While anybody is strangely silent, it is for the heartbeats to tell who.
void Coordinator::expire_rollback(Slot slot) {
  const Time silent = settings_.heartbeat_timeout - 2 * settings_.heartbeat_interval;
  const bool wait = std::any_of(members_.begin(), members_.end(), [&](const Member& member) {
    return member.deadline() && *member.deadline() - now_ < silent;
  });
  if (wait) return members_[slot].put_off(now_ + settings_.heartbeat_interval);
  const Member& member = members_[slot];
  const bool busy = member.is_busy() && !member.fresh();
  const auto limit = std::chrono::duration_cast<milliseconds>(time_to_restore(busy)).count();
  lose(slot, busy ? concat("an operator did not return within ", limit, " ms to load its state")
                  : concat("it did not get on with loading its state for ", limit, " ms"));
}

// An operator has less time to return from what it is at than a state to get on.
Time Coordinator::time_to_restore(bool busy) const {
  const std::uint32_t doublings = std::min(fruitless_ == 0 ? 0 : fruitless_ - 1, doublings_max);
  return (busy ? settings_.rollback_timeout : settings_.join_timeout) * (1u << doublings);
}

// Fencing makes the job right whatever the old process still does; killing it sets its memory
// and its files free.
void Coordinator::lose(Slot slot, std::string how, Member::Fault fault) {
  Member& member = members_[slot];
  tell(Lost{slot, how, job_ ? job_->names_on(slot) : ""});
  if (settings_.can_spawn) act(Kill{slot, member.incarnation()});
  member.end(now_ + exit_wait, fault);
  if ((!settings_.snapshots || !settings_.can_spawn) && !fatal_) {
    fatal_ = slot;
    fatal_how_ = std::move(how);
  }
  if (member.failed_starts() > settings_.fruitless_recoveries_max) {
    return fail(4, concat(worker_name(slot), " could not be started ", member.failed_starts(),
                          " times in a row"));
  }
  roll_back(concat("worker ", slot, " was lost"));
}

// An operator that spins or blocks keeps its process's heartbeats coming. Sources may wait for the
// world; what loads its state has a time of its own. True when this has cost the process.
bool Coordinator::is_stuck(Slot slot, const runtime::Progress& progress) {
  if (!active() || is_source(job_->role(progress.replica))) return false;
  const auto busy = busy_.heard(now_, progress);
  if (!busy) return false;
  const std::string name = job_->name(progress.replica);
  if (busy->tell) tell(ReplicaBusy{progress.replica, name, busy->item, busy->since});
  if (!settings_.stuck_after || !settings_.can_spawn || busy->since < *settings_.stuck_after) {
    return false;
  }
  const std::string why = concat("busy for ", settings_.stuck_after->count(), " ms");
  const std::string at = busy->item ? concat(" with item ", *busy->item) : "";
  budget_.failed({{job_->plan.replicas[progress.replica].node, progress.replica, busy->item}});
  if (within_budget(why)) lose(slot, concat(name, " was ", why, at));
  return true;
}

void Coordinator::member_left(Slot slot, bool gone) {
  Member& member = members_[slot];
  member.leave(now_ + pause_before_start(member.failed_starts()), gone);
}

std::string Coordinator::silence() const {
  return concat("no heartbeat for ", settings_.heartbeat_timeout.count(), " ms");
}

// Every replica that was at work may have brought its process down. Sources come last: they run
// ahead of the item that did it.
void Coordinator::suspect(Slot slot,
                          const std::vector<std::pair<ReplicaId, std::uint64_t>>& at_work,
                          RestartBudget::Blame blame, const std::string& why) {
  std::vector<Suspect> suspects;
  for (const auto& [replica, item] : at_work) {
    if (!job_->hosts(slot, replica)) continue;
    suspects.push_back({job_->plan.replicas[replica].node, replica, item});
  }
  if (suspects.empty()) return;
  std::stable_partition(suspects.begin(), suspects.end(),
                        [&](const Suspect& one) { return !is_source(job_->role(one.replica)); });
  budget_.failed(std::move(suspects), blame);
  within_budget(why);
}

// False when the job has failed.
bool Coordinator::within_budget(const std::string& why) {
  const auto culprit = budget_.culprit();
  if (!culprit) return true;
  if (settings_.dead_letters && culprit->item) {
    skips_.push_back({culprit->node, *culprit->item});
    budget_.reset(*culprit);
    tell(ItemSkipped{culprit->node, *culprit->item});
    return true;
  }
  const std::string where = culprit->item ? concat(" at or near item ", *culprit->item) : "";
  const char* advice = culprit->item ? "; with a dead-letter file it would be passed by" : "";
  fail(1, concat(job_->name(culprit->replica), " failed ", settings_.restart_budget, " times",
                 where, ": ", why, advice));
  return false;
}

// From here to the next Deploy nothing that workers say counts.
void Coordinator::roll_back(const std::string& why) {
  if (!deployed()) return;
  if (fruitless_ == settings_.fruitless_recoveries_max) {
    return fail(4, concat("given up after ", fruitless_,
                          " recoveries in a row without an item or a snapshot; the last: ", why));
  }
  fruitless_ += 1;
  phase_ = Phase::gathering;
  if (settings_.snapshots) search_ = Search::wanted;
  why_back_ = why;
  if (round_ && !round_->committing()) give_up_round(why);
}

// A coordinator that did not run for a while has heard nobody either, and must not take that
// for their silence. It has to hear them once before it forgives again.
void Coordinator::forgive_lateness(Time now) {
  const auto deadline = next_deadline();
  if (!deadline || now - *deadline <= lateness_max) return;
  const Time moved = now - *deadline + settings_.heartbeat_interval;
  for (Member& member : members_) member.forgive(moved);
}

}  // namespace piracema::cluster
