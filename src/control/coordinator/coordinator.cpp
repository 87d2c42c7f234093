#include "control/coordinator/coordinator.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/ensure.h"
#include "base/text.h"

namespace piracema::cluster {

Coordinator::Coordinator(JobSettings settings) : Coordinator(JobMetadata(std::move(settings))) {}

Coordinator::Coordinator(JobMetadata metadata)
    : journal_(std::move(metadata)),
      settings_(journal_.settings()),
      members_(journal_),
      detector_(settings_),
      snapshots_(journal_, members_),
      ending_(journal_, members_),
      rescaling_(journal_, members_, detector_),
      job_(journal_),
      failures_(journal_, members_, detector_, job_),
      change_(journal_, members_, detector_),
      reports_(journal_, members_, detector_, job_, snapshots_, ending_, rescaling_, failures_,
               broadcasts_),
      savepoint_(journal_),
      schedule_(journal_, snapshots_, rescaling_, savepoint_, moves_) {
  ENSURE(validate(settings_).ok());
  detector_.grow(members_.size());
}

void Coordinator::reload(JobMetadata metadata) {
  journal_.reload(std::move(metadata));
  job_.reload();
}

std::vector<Action> Coordinator::step(Time now, const Event& event) {
  if (phase_ == Phase::finished) return {};
  if (begun_) detector_.forgive(now, next_deadline());
  now_ = now;
  if (!std::exchange(begun_, true)) begin();
  std::visit([this](const auto& what) { on(what); }, event);
  // Every condition to go on is looked at after every event: no order of events is special.
  if (phase_ == Phase::gathering) gather();
  if (phase_ == Phase::attaching && members_.all_joined()) begin_epoch();
  if (phase_ == Phase::restoring) start_when_ready();
  if (rescaling_.under_way() && is_deployed(phase_)) {
    for (const Slot slot : members_.spawn(now_)) detector_.started(slot, now_);
  }
  if (is_active(phase_)) go_on();
  if (is_active(phase_)) route_broadcasts();
  if (phase_ == Phase::leaving && ending_.all_left(now_) && !savepoint_.naming()) {
    phase_ = Phase::finished;
  }
  if (phase_ == Phase::finished) journal_.act(ending_.finish());
  return journal_.take();
}

// ---- from phase to phase --------------------------------------------------------------------

// Of a job that is taken over every process may be there; which are is found out.
void Coordinator::begin() {
  const bool taken_over = metadata().term != 0;
  const auto open = metadata().snapshots.open();
  journal_.decide(TermRaised{metadata().term + 1});
  if (!taken_over) {
    if (!settings_.can_spawn) members_.spawn(now_);
    return;
  }
  for (const Slot slot : members_.take_over()) detector_.detached(slot, now_);
  if (job_) rescaling_.resume(*job_, now_);
  snapshots_.resume(open, job_.get(), now_);
  schedule_.plan(now_ + settings_.snapshot_interval);
  stop_by_ = now_ + settings_.snapshot_timeout;
  change_.taken_over("a coordinator was lost");
  if (metadata().end) {
    phase_ = Phase::leaving;
    ending_.resume_leaving(now_);
  } else if (metadata().epoch_holds) {
    phase_ = Phase::attaching;
  } else if (settings_.snapshots) {
    snapshots_.want_search();
  }
}

void Coordinator::gather() {
  if (failures_.fatal()) {
    if (members_.any(Member::State::ending)) return;  // The process will tell how it ended.
    return fail(failures_.fatal_end());
  }
  // A manifest that is being written decides what to go back to, so its outcome comes first:
  // if the job went back behind a snapshot that then became complete after all, a later resume
  // would take that one and miss what was redone in between.
  const bool may_go_on = !snapshots_.under_way() && snapshots_.look();
  if (metadata().stop_requested) {
    if (may_go_on) leave_stopped();
    return;
  }
  for (const Slot slot : members_.spawn(now_)) detector_.started(slot, now_);
  if (!may_go_on || !members_.all_joined()) return;
  begin_epoch();
  route_broadcasts();  // Before the first item.
}

void Coordinator::begin_epoch() {
  if (phase_ == Phase::attaching) {
    change_.attach(now_);
  } else {
    change_.deploy(*job_, items_emitted(), now_);
  }
  phase_ = Phase::restoring;
  reports_.begin_epoch();
  ending_.begin_epoch();
  if (!settings_.direct_broadcasts) broadcasts_.begin(*job_, members_.peers(), epoch(), now_);
}

void Coordinator::start_when_ready() {
  if (!members_.all_ready()) return;
  phase_ = metadata().stop_requested ? Phase::stopping : Phase::running;
  if (change_.run()) {
    snapshots_.complete_barriers(*job_);
    ending_.resume(*job_);
  }
  reports_.all_run();
  rescaling_.all_run(now_);
  if (auto moved = moves_.arrived(now_)) journal_.tell(*std::move(moved));
  // A snapshot may be overdue after a recovery, but work comes first.
  const Time interval = settings_.snapshot_interval;
  if (epoch() == 1) {
    schedule_.plan(now_ + interval);
  } else {
    schedule_.put_off_until(now_ + interval / 4);
  }
}

void Coordinator::go_on() {
  if (phase_ != Phase::ending && !ending_.last_commit_begun() && metadata().all_ended()) {
    phase_ = Phase::ending;
    schedule_.plan(now_);
    schedule_.give_up_scale("every replica has ended", now_);
    if (savepoint_.due()) savepoint_.give_up("every replica has ended", now_);
  }
  if (ending_.last_commit_done()) {
    if (phase_ == Phase::stopping) return leave_stopped();
    phase_ = Phase::leaving;
    return ending_.leave_done(now_);
  }
  if (phase_ == Phase::stopping && (now_ >= stop_by_ || !settings_.snapshots)) {
    // What is complete is safe: the sinks commit it when the job is resumed.
    if (ending_.last_commit_begun() || !settings_.snapshots) return leave_stopped();
    return fail({1, concat("stopped, but no snapshot was complete within ",
                           settings_.snapshot_timeout.count(), " ms")});
  }
  if (!settings_.snapshots) {
    if (phase_ == Phase::ending && !ending_.last_commit_begun()) ending_.commit(*job_, 0, true);
    return;
  }
  if (const auto late_at = snapshots_.late_at(); late_at && now_ >= *late_at) {
    give_up_round(concat("not complete within ", settings_.snapshot_timeout.count(), " ms"));
  }
  if (snapshots_.under_way() || ending_.last_commit_begun() || !is_active(phase_)) return;
  schedule_.take_due(*job_, phase_, now_);
}

bool Coordinator::follow(const Consequence& what) {
  if (const auto* back = std::get_if<GoBack>(&what)) {
    change_.disturbed();
    if (back->lost) moves_.lost(*back->lost);
    roll_back(back->why);
  } else if (const auto* hindered = std::get_if<PlanHindered>(&what)) {
    schedule_.scale_failed(hindered->why, now_);
  } else if (const auto* snapshot = std::get_if<SnapshotHindered>(&what)) {
    give_up_round(snapshot->why);
  } else if (const auto* end = std::get_if<Finish>(&what)) {
    fail(*end);
  }
  return !std::holds_alternative<std::monostate>(what);
}

void Coordinator::roll_back(const std::string& why) {
  if (!is_deployed(phase_)) return;
  if (auto end = failures_.fruitless(why)) return fail(*std::move(end));
  change_.go_back(why);
  phase_ = Phase::gathering;
  if (settings_.snapshots) snapshots_.want_search();
  if (snapshots_.under_way() && !snapshots_.writing()) give_up_round(why);
}

void Coordinator::give_up_round(const std::string& why) {
  const SnapshotId id = metadata().snapshots.next_id() - 1;
  const SnapshotPurpose purpose = snapshots_.give_up(why, is_active(phase_));
  if (!is_active(phase_)) return savepoint_.snapshot_given_up(id);
  schedule_.failed(id, purpose, why, now_);
  if (phase_ == Phase::stopping && purpose == SnapshotPurpose::stop) {
    return fail({1, concat("stopped, but the last snapshot failed: ", why)});
  }
  // A disk that takes no snapshots fails those, not the job: it ends like one that takes none. A
  // worker lost between two commits of sinks could then have one of them repeated.
  const bool last = purpose == SnapshotPurpose::final;
  if (last && ending_.may_be_unsaved()) ending_.commit(*job_, id, true);
}

// ---- another plan ---------------------------------------------------------------------------

// All stand at this snapshot, and it can no longer be lost: what follows goes on from there by the
// next plan, and whatever fails from here on goes back to it.
void Coordinator::change_plan(SnapshotId snapshot) {
  constexpr auto why = "the job was scaled";
  if (is_active(phase_)) {
    change_.go_on_at_snapshot(why);
  } else {
    change_.go_back(why);
  }
  rescaling_.change_plan(snapshot, now_);
  job_.reload();
  reports_.change_plan();
  phase_ = Phase::gathering;
  moves_.wish({}, false);  // They may be no part of it any more.
}

// ---- other places ---------------------------------------------------------------------------

// All stand at this snapshot, so what begins elsewhere goes on from there and nothing is done
// again. Where the next process of a slot is started is for the driver to say.
void Coordinator::move_processes(SnapshotId snapshot) {
  change_.go_on_at_snapshot("processes were moved");
  phase_ = Phase::gathering;
  for (const Slot slot : moves_.go(snapshot, snapshots_.begun())) {
    members_.end(slot, now_ + Members::exit_wait);
    detector_.forget(slot);
  }
}

void Coordinator::route_broadcasts() {
  Broadcasts::Due due = broadcasts_.due(now_);
  for (auto& [slot, trees] : due.messages) members_.send(slot, std::move(trees));
  for (BroadcastRouted& note : due.notes) journal_.tell(std::move(note));
}

void Coordinator::leave_stopped() {
  phase_ = Phase::leaving;
  savepoint_.give_up("the job was stopped before there was a snapshot", now_);
  ending_.leave_stopped(now_);
}

void Coordinator::fail(Finish end) {
  savepoint_.give_up(concat("the job has failed: ", end.why), now_);
  ending_.fail(end.code, std::move(end.why));
  phase_ = Phase::finished;
}

// ---- what happens to processes --------------------------------------------------------------

void Coordinator::on(const Joined& joined) {
  Member* member = members_.find(joined.slot, joined.incarnation);
  const bool awaited = member != nullptr && (member->state() == Member::State::starting ||
                                             member->state() == Member::State::detached);
  if (awaited && phase_ == Phase::leaving && member->state() == Member::State::detached) {
    return ending_.send_off(joined.slot);
  }
  if (!awaited || phase_ == Phase::leaving) {
    return members_.send_away(joined.slot, joined.incarnation);
  }
  if (!joined.hindrance.empty()) {
    if (epoch() == 0) {
      return fail({3, concat("worker ", joined.slot, " cannot begin: ", joined.hindrance)});
    }
    follow(failures_.lose(joined.slot, LossCause::other,
                          concat("it cannot begin: ", joined.hindrance), now_));
    return;
  }
  const auto admitted = job_.admit(joined);
  if (!admitted) return fail({3, admitted.error().message});
  member->join(joined.address);
  members_.send(joined.slot, runtime::Attach{metadata().term, epoch()});
  if (member->state() == Member::State::joined) detector_.heard(joined.slot, now_);
}

// It was there before this coordinator was. What it has said of its epoch it says again.
void Coordinator::attach(Slot slot, const runtime::Attached& attached) {
  if (attached.term != metadata().term) return;
  members_[slot].attach();
  detector_.heard(slot, now_);
  if (attached.epoch > epoch()) {
    follow(failures_.lose(slot, LossCause::other,
                          concat("it is in epoch ", attached.epoch, ", which nobody has decided"),
                          now_));
  } else if (is_deployed(phase_) && attached.epoch != epoch() && slot < members_.active()) {
    roll_back(concat("worker ", slot, " had not heard of epoch ", epoch()));
  }
}

void Coordinator::on(const Exited& exited) {
  if (exited.slot >= members_.size()) return;
  members_.gone(exited.slot, exited.incarnation);
  Member* member = members_.find(exited.slot, exited.incarnation);
  if (member == nullptr) return;

  if (phase_ == Phase::leaving) {
    if (member->state() != Member::State::ending) member->end(now_);
    return members_.left(exited.slot, now_, true);
  }
  follow(failures_.ended(exited, now_));
  if (phase_ != Phase::finished) follow(failures_.gone(exited, now_));
}

void Coordinator::on(const ConnectionLost& lost) {
  const Member* member = members_.find(lost.slot, lost.incarnation);
  if (member == nullptr || member->state() != Member::State::joined) return;
  if (phase_ == Phase::leaving) return;
  follow(failures_.lose(lost.slot, LossCause::connection_ended, "its connection ended", now_));
}

// Nobody is blamed except by a Tick: it comes after all that has been said by then.
void Coordinator::on(const Tick&) {
  if (phase_ == Phase::leaving) return;
  for (Slot slot = 0; slot < members_.size() && phase_ != Phase::finished; ++slot) {
    follow(failures_.passed(slot, now_, phase_ == Phase::restoring));
  }
}

void Coordinator::on(const Said& said) {
  Member* member = members_.find(said.slot, said.incarnation);
  const auto* attached = std::get_if<runtime::Attached>(&said.message);
  if (member != nullptr && member->state() == Member::State::detached && attached != nullptr &&
      phase_ != Phase::leaving) {
    return attach(said.slot, *attached);
  }
  if (member == nullptr || member->state() != Member::State::joined) {
    // A process that was given up and speaks again: it froze, or could not be reached.
    const bool of_old =
        said.slot < members_.size() && said.incarnation < members_.incarnation(said.slot);
    if (of_old) members_.send_away(said.slot, said.incarnation);
    return;
  }
  // Every message is a sign of life, whatever it says.
  detector_.heard(said.slot, now_);
  if (is_deployed(phase_)) follow(reports_.hear(said.slot, said.message, phase_, now_));
}

// ---- snapshots, and the user ----------------------------------------------------------------

void Coordinator::on(const SnapshotCommitted& committed) {
  if (!snapshots_.writes(committed.snapshot)) return;
  const SavedSnapshot snapshot = snapshots_.completed(now_);
  savepoint_.snapshot_completed(snapshot.id);
  if (snapshot.purpose == SnapshotPurpose::scale && rescaling_.under_way() && !metadata().end) {
    return change_plan(snapshot.id);
  }
  moves_.completed();
  if (snapshot.purpose == SnapshotPurpose::move) {
    if (schedule_.may_move(phase_)) return move_processes(snapshot.id);
    schedule_.plan(now_);  // Whichever is next lets the sources go on.
  }
  // In the middle of a recovery the Deploy that follows restores it, and that commits it too.
  if (!is_active(phase_)) return;
  const bool last = (phase_ == Phase::ending && snapshot.purpose == SnapshotPurpose::final) ||
                    (phase_ == Phase::stopping && snapshot.purpose == SnapshotPurpose::stop);
  ending_.commit(*job_, snapshot.id, last);
}

void Coordinator::on(const SnapshotCommitFailed& failed) {
  if (snapshots_.writes(failed.snapshot)) give_up_round(failed.why);
}

void Coordinator::on(const SnapshotFound&) { snapshots_.found(); }

void Coordinator::on(const SnapshotGone& gone) {
  if (!snapshots_.asked()) return;
  fail({4, concat(change_.why(), ", and there is nothing to go back to: ", gone.why)});
}

void Coordinator::on(const StopRequested&) {
  if (metadata().stop_requested || phase_ == Phase::ending || phase_ == Phase::leaving) return;
  journal_.decide(StopAccepted{});
  schedule_.give_up_scale("the job was asked to stop", now_);
  stop_by_ = now_ + settings_.snapshot_timeout;
  if (phase_ == Phase::running && settings_.snapshots) {
    phase_ = Phase::stopping;
  } else if (phase_ == Phase::restoring && metadata().snapshots.newest()) {
    // It is named as what to go on with, so it has to be there.
    change_.go_back("stopped");
    phase_ = Phase::gathering;
    snapshots_.want_search();
  } else if (phase_ != Phase::gathering && phase_ != Phase::attaching) {
    leave_stopped();
  }
}

void Coordinator::on(const UserAsked& asked) {
  AnswerRequest answer;
  if (!job_ || epoch() == 0) {
    answer = {.later = true, .why = "the job has not begun yet"};
  } else if (metadata().stop_requested || phase_ == Phase::ending || phase_ == Phase::leaving) {
    answer = {.why = "the job is ending"};
  } else {
    const auto* scale = std::get_if<ScaleRequest>(&asked.request);
    answer = scale ? rescaling_.begin(*job_, *scale, now_)
                   : savepoint_.begin(std::get<SavepointRequest>(asked.request), now_);
  }
  answer.id = asked.id;
  journal_.act(std::move(answer));
}

void Coordinator::on(const SnapshotNamed& named) { savepoint_.named(named, now_); }

void Coordinator::on(const SnapshotNotNamed& failed) { savepoint_.not_named(failed, now_); }

void Coordinator::on(const MovesWished& wished) {
  std::set<Slot> slots;
  const bool can = settings_.snapshots && settings_.can_spawn && !settings_.workers_come;
  for (const Slot slot : wished.slots) {
    if (can && slot < members_.active()) slots.insert(slot);
  }
  moves_.wish(std::move(slots), wished.soon);
}

// Not one of them is looked at here: whoever starts processes knows what a host is.
void Coordinator::on(const HostsListed& listed) {
  if (metadata().end || listed.now == metadata().hosts) return;
  journal_.decide(HostsChanged{listed.now});
}

// ---- helpers --------------------------------------------------------------------------------

std::optional<Time> Coordinator::next_deadline() const {
  std::optional<Time> next;
  const auto at = [&](std::optional<Time> time) {
    if (time && (!next || *time < *next)) next = time;
  };
  if (phase_ == Phase::finished) return next;
  if (phase_ == Phase::leaving) {
    // Past that, the name of a savepoint is all that is waited for.
    if (savepoint_.naming() && now_ >= ending_.leave_by()) return next;
    return ending_.leave_by();
  }
  at(members_.next_due(
      (phase_ == Phase::gathering && !failures_.fatal() && !metadata().stop_requested) ||
      (rescaling_.under_way() && is_deployed(phase_))));
  at(detector_.next_deadline(phase_ == Phase::restoring));
  if (phase_ == Phase::stopping) at(stop_by_);
  if (is_active(phase_)) at(broadcasts_.next_deadline());
  if (is_active(phase_) && settings_.snapshots) at(schedule_.next_deadline(phase_));
  return next;
}

}  // namespace piracema::cluster
