#include "control/coordinator.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "base/text.h"

namespace piracema::cluster {

namespace {
// So long is one item's work without anybody being told.
constexpr std::chrono::seconds tell_busy_after{10};
}  // namespace

const char* name_of(Phase phase) {
  switch (phase) {
    case Phase::gathering:
      return "gathering";
    case Phase::restoring:
      return "restoring";
    case Phase::running:
      return "running";
    case Phase::ending:
      return "ending";
    case Phase::stopping:
      return "stopping";
    case Phase::leaving:
      return "leaving";
    case Phase::finished:
      return "finished";
  }
  return "?";
}

Coordinator::Coordinator(JobSettings settings)
    : settings_(std::move(settings)),
      members_(settings_.slots),
      restore_(settings_.resume),
      budget_(settings_.restart_budget, settings_.restart_window),
      busy_(2 * settings_.heartbeat_interval, tell_busy_after) {
  ENSURE(validate(settings_).ok());
  if (!settings_.can_spawn) {
    for (Member& member : members_) member.start(std::nullopt);
  }
  std::vector<SnapshotId> found = settings_.found;
  if (restore_) found.push_back(*restore_);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  for (const SnapshotId id : found) (id <= restore_.value_or(0) ? kept_ : given_up_).push_back(id);
  if (!found.empty()) next_id_ = found.back() + 1;
}

std::vector<Action> Coordinator::step(Time now, const Event& event) {
  if (phase_ == Phase::finished) return {};
  forgive_lateness(now);
  now_ = now;
  std::visit([this](const auto& what) { on(what); }, event);
  advance();
  if (phase_ == Phase::finished) act(*finish_);
  return std::exchange(actions_, {});
}

// Every condition to go on is looked at after every event: no order of events is special.
void Coordinator::advance() {
  if (phase_ == Phase::gathering) gather();
  if (phase_ == Phase::restoring) start_when_ready();
  if (active()) go_on();
  if (phase_ == Phase::leaving) finish_when_all_left();
}

void Coordinator::on(const Joined& joined) {
  Member* member = process(joined.slot, joined.incarnation);
  if (member == nullptr || member->state() != Member::State::starting || phase_ == Phase::leaving) {
    act(Send{joined.slot, joined.incarnation, runtime::Shutdown{1, place_given_away}});
    return;
  }
  if (!job_) {
    auto job = Job::make(joined.graph, joined.costs, settings_, joined.layouts);
    if (!job) return fail(3, job.error().message);
    job_ = *std::move(job);
  } else if (job_->graph != joined.graph) {
    return fail(3, concat("worker ", joined.slot,
                          " runs another program than the workers before it: its graph differs"));
  } else if (job_->layouts != joined.layouts) {
    return fail(3, concat("worker ", joined.slot,
                          " runs another program than the workers before it: the state of an "
                          "operator is of another type"));
  }
  member->join(joined.address, heard_by());
}

void Coordinator::on(const StopRequested&) {
  if (stop_requested_ || phase_ == Phase::ending || phase_ == Phase::leaving) return;
  stop_requested_ = true;
  stop_by_ = now_ + settings_.snapshot_timeout;
  if (phase_ == Phase::running && settings_.snapshots) {
    phase_ = Phase::stopping;
  } else if (phase_ == Phase::restoring && restore_) {
    // It is named as what to go on with, so it has to be there.
    phase_ = Phase::gathering;
    why_back_ = "stopped";
    search_ = Search::wanted;
  } else if (phase_ != Phase::gathering) {
    leave_stopped();
  }
}

void Coordinator::gather() {
  const auto any = [this](Member::State state) {
    return std::any_of(members_.begin(), members_.end(),
                       [&](const Member& member) { return member.state() == state; });
  };
  if (fatal_) {
    if (any(Member::State::ending)) return;  // The process will tell how it ended.
    return fail(4, concat(worker_name(*fatal_), " was lost: ", fatal_how_,
                          "; start with --snapshots DIR to go on after a loss"));
  }
  // A manifest that is being written decides what to go back to, so its outcome comes first:
  // if the job went back behind a snapshot that then became complete after all, a later resume
  // would take that one and miss what was redone in between.
  if (!round_) look_for_snapshot();
  const bool may_go_on = !round_ && search_ == Search::found;
  if (stop_requested_) {
    if (may_go_on) leave_stopped();
    return;
  }
  for (Slot slot = 0; slot < members_.size(); ++slot) {
    Member& member = members_[slot];
    if (member.state() != Member::State::absent || now_ < member.deadline().value_or(Time{})) {
      continue;
    }
    act(Spawn{slot, member.incarnation()});
    member.start(now_ + settings_.join_timeout);
  }
  if (any(Member::State::absent) || any(Member::State::starting) || any(Member::State::ending)) {
    return;
  }
  if (may_go_on) deploy();
}

// One message for the start and for every recovery. Nothing of an older epoch counts any more.
void Coordinator::deploy() {
  epoch_ += 1;
  runtime::Deploy deploy{epoch_, restore_, job_->placement, {}, skips_, {}};
  for (Slot slot = 0; slot < members_.size(); ++slot) {
    const Member& member = members_[slot];
    deploy.peers.push_back({slot, member.incarnation(), member.address()});
    if (member.may_live()) deploy.may_live.push_back(slot);
  }
  if (epoch_ > 1) tell(Recovering{epoch_, restore_, items_emitted() - emitted_at_restore_});
  for (Slot slot = 0; slot < members_.size(); ++slot) {
    Member& member = members_[slot];
    std::optional<Time> within;
    if (settings_.can_spawn) within = time_to_restore(!member.fresh());
    member.deploy(now_, within);
    send(slot, deploy);
  }
  ended_.assign(job_->replicas(), false);
  progress_.assign(job_->replicas(), {});
  for (ReplicaId replica = 0; replica < job_->replicas(); ++replica) {
    progress_[replica].replica = replica;
  }
  emitted_at_deploy_ = emitted_at_restore_;
  busy_.clear();
  item_out_ = false;
  last_commit_ = false;
  uncommitted_.clear();
  phase_ = Phase::restoring;
}

void Coordinator::start_when_ready() {
  if (!std::all_of(members_.begin(), members_.end(),
                   [](const Member& m) { return m.is_ready(); })) {
    return;
  }
  phase_ = Phase::running;
  tell(Running{epoch_});
  // A snapshot may be overdue after a recovery, but work comes first.
  const Time interval = settings_.snapshot_interval;
  next_round_ = epoch_ == 1 ? now_ + interval : std::max(next_round_, now_ + interval / 4);
}

std::optional<Time> Coordinator::next_deadline() const {
  std::optional<Time> next;
  const auto at = [&](std::optional<Time> time) {
    if (time && (!next || *time < *next)) next = time;
  };
  if (phase_ == Phase::finished) return next;
  if (phase_ == Phase::leaving) return leave_by_;
  const bool may_start = phase_ == Phase::gathering && !fatal_ && !stop_requested_;
  for (const Member& member : members_) {
    if (member.state() != Member::State::absent || may_start) at(member.deadline());
    if (phase_ == Phase::restoring) at(member.ready_by());
  }
  if (phase_ == Phase::stopping) at(stop_by_);
  if (!active() || !settings_.snapshots) return next;
  if (round_ && !round_->committing()) at(round_->begun() + settings_.snapshot_timeout);
  if (!round_ && !last_commit_ && phase_ != Phase::stopping) at(next_round_);
  return next;
}

std::uint64_t Coordinator::items_emitted() const {
  std::uint64_t items = emitted_at_deploy_;
  for (ReplicaId replica = 0; replica < progress_.size(); ++replica) {
    if (is_source(job_->role(replica))) items += progress_[replica].items_out;
  }
  return items;
}

bool Coordinator::active() const {
  return phase_ == Phase::running || phase_ == Phase::ending || phase_ == Phase::stopping;
}

Member* Coordinator::process(Slot slot, std::uint32_t incarnation) {
  if (slot >= members_.size()) return nullptr;
  Member& member = members_[slot];
  if (member.state() == Member::State::absent || member.incarnation() != incarnation) {
    return nullptr;
  }
  return &member;
}

void Coordinator::send(Slot slot, runtime::ToWorker message) {
  act(Send{slot, members_[slot].incarnation(), std::move(message)});
}

std::string Coordinator::worker_name(Slot slot) const {
  if (!job_) return concat("worker ", slot);
  return concat("worker ", slot, " (", job_->names_on(slot), ")");
}

std::optional<Time> Coordinator::heard_by() const {
  if (!settings_.can_spawn) return std::nullopt;  // Nothing could be done about it.
  return now_ + settings_.heartbeat_timeout;
}

}  // namespace piracema::cluster
