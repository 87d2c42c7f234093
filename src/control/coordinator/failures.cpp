#include "control/coordinator/failures.h"

#include <utility>

#include "base/text.h"

namespace piracema::cluster {

namespace {

Consequence consequence_of(RestartPolicy::Verdict verdict) {
  if (!verdict) return {};
  return *std::move(verdict);
}

}  // namespace

// ---- processes ------------------------------------------------------------------------------

// Fencing makes the job right whatever the old process still does; killing it sets its memory
// and its files free.
Consequence Failures::lose(Slot slot, LossCause cause, std::string how, Time now) {
  if (slot >= members_.active()) {  // Nothing is done by it yet.
    members_.end(slot, now + Members::exit_wait, cause);
    detector_.forget(slot);
    return PlanHindered{concat("worker ", slot, " was lost before it had begun: ", how)};
  }
  journal_.tell(Lost{slot, how, job_ ? job_->names_on(slot) : "", cause});
  members_.end(slot, now + Members::exit_wait, cause);
  detector_.forget(slot);
  const JobSettings& settings = journal_.settings();
  if ((!settings.snapshots || !settings.can_spawn) && !fatal_) {
    fatal_ = slot;
    fatal_how_ = std::move(how);
  }
  auto end = policy_.not_started(job_.worker_name(slot), members_[slot].failed_starts());
  if (end) return *std::move(end);
  return GoBack{concat("worker ", slot, " was lost"), slot};
}

// An exit says that this is no program of ours, a signal that it was lost. But one that raises a
// signal whenever it starts has done no work that could be saved by trying again.
std::optional<Finish> Failures::not_joined(const Exited& exited) const {
  const Member& member = members_[exited.slot];
  if (journal_.metadata().epoch != 0 || exited.from_outside ||
      member.state() != Member::State::starting) {
    return std::nullopt;
  }
  if (!exited.by_signal) {
    return Finish{3,
                  concat("worker ", exited.slot, " did not join the job: its process ", exited.by)};
  }
  const std::uint32_t times = journal_.settings().restart_budget;
  if (member.failed_starts() + 1 < times) return std::nullopt;
  return Finish{4, concat("worker ", exited.slot, " could not be started ", times,
                          " times in a row: its process was ", exited.by)};
}

Consequence Failures::ended(const Exited& exited, Time now) {
  if (auto end = not_joined(exited)) return *std::move(end);
  if (members_[exited.slot].state() != Member::State::ending) {
    return lose(exited.slot, LossCause::process_ended, concat("its process ended: ", exited.by),
                now);
  }
  if (fatal_ == exited.slot) fatal_how_ += concat("; its process ended: ", exited.by);
  return {};
}

Consequence Failures::gone(const Exited& exited, Time now) {
  const LossCause cause = members_[exited.slot].cause();
  members_.left(exited.slot, now, true);
  const bool its_own_doing = cause == LossCause::silent || cause == LossCause::connection_ended;
  if (!job_ || fatal_ || (exited.from_outside && !its_own_doing)) return {};
  // Where it came from outside we have ended it, for what it did.
  const bool silent = exited.from_outside && cause == LossCause::silent;
  const std::string why = silent                ? detector_.silence()
                          : exited.from_outside ? "its connection ended"
                                                : exited.by;
  return consequence_of(policy_.process_failed(
      *job_, exited.slot, exited.at_work,
      silent ? RestartBudget::Blame::likely : RestartBudget::Blame::certain, why));
}

Consequence Failures::passed(Slot slot, Time now, bool restoring) {
  const Member& member = members_[slot];
  if (member.state() == Member::State::ending && now >= *member.due()) {
    if (slot >= members_.active()) members_.kill(slot);  // It was asked to leave.
    members_.left(slot, now, false);
    return {};
  }
  auto late = detector_.expired(slot, now, restoring);
  if (!late) return {};
  return lose(slot, late->cause, std::move(late->how), now);
}

// ---- operators ------------------------------------------------------------------------------

Consequence Failures::failed(const runtime::OperatorFailed& failed, bool restoring) {
  const std::string name = job_->name(failed.replica);
  journal_.tell(ReplicaFailed{failed.replica, name, failed.item, failed.why});
  // A job that cannot begin has nothing yet that could be saved by trying again.
  const bool cannot_begin = journal_.metadata().epoch == 1 && restoring && !failed.item;
  if (!journal_.settings().snapshots || cannot_begin) {
    const std::string where = failed.item ? concat(" at item ", *failed.item) : "";
    return Finish{1, concat("operator ", name, " failed", where, ": ", failed.why)};
  }
  auto end = policy_.failed(*job_, failed.replica, failed.item, failed.why);
  if (end) return *std::move(end);
  return GoBack{concat("operator ", name, " failed")};
}

// Sources may wait for the world.
Consequence Failures::heard(Slot slot, const runtime::Progress& progress, Time now) {
  const ReplicaId replica = progress.replica;
  if (!job_->hosts(slot, replica) || is_source(job_->role(replica))) return {};
  const auto busy = detector_.heard_of(now, progress);
  if (!busy) return {};
  const std::string name = job_->name(replica);
  if (busy->tell) journal_.tell(ReplicaBusy{replica, name, busy->item, busy->since});
  const auto& limit = journal_.settings().stuck_after;
  if (!limit || !journal_.settings().can_spawn || busy->since < *limit) return {};
  const std::string why = concat("busy for ", limit->count(), " ms");
  const std::string at = busy->item ? concat(" with item ", *busy->item) : "";
  auto end = policy_.failed(*job_, replica, busy->item, why);
  if (end) return *std::move(end);
  return lose(slot, LossCause::stuck, concat(name, " was ", why, at), now);
}

// ---- the job --------------------------------------------------------------------------------

Finish Failures::fatal_end() const {
  return {4, concat(job_.worker_name(*fatal_), " was lost: ", fatal_how_,
                    "; start with --snapshots DIR to go on after a loss")};
}

}  // namespace piracema::cluster
