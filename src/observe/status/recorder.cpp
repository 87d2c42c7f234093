#include "observe/status/recorder.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"

namespace piracema::observe {

namespace {

using namespace cluster;

double per_second(std::uint64_t from, std::uint64_t to, Time passed) {
  if (passed.count() == 0 || to < from) return 0;
  return static_cast<double>(to - from) / to_seconds(passed);
}

template <class T>
void push_bounded(std::deque<T>& list, T value, std::size_t most) {
  if (list.size() == most) list.pop_front();
  list.push_back(std::move(value));
}

// Nobody behind a node goes by how far a replica of it has come that has ended, while others have
// not.
void leave_out_ended(JobStatus& status) {
  std::vector<std::optional<Time>> come(status.nodes.size());
  for (const ReplicaStatus& replica : status.replicas) {
    const auto& own = replica.work.event_time;
    if (!own || replica.ended) continue;
    auto& of_node = come[replica.node];
    of_node = std::min(of_node.value_or(*own), *own);
  }
  for (std::size_t node = 0; node < come.size(); ++node) {
    if (come[node]) status.nodes[node].work.event_time = come[node];
  }
}

}  // namespace

void Recorder::plan(const Job& job) {
  job_ = &job;
  replicas_.resize(job.replicas());
}

void Recorder::joined(Time at, Slot slot, std::uint32_t incarnation, std::uint64_t pid,
                      std::string host) {
  if (workers_.size() <= slot) workers_.resize(slot + 1);
  workers_[slot] = {.slot = slot,
                    .incarnation = incarnation,
                    .pid = pid,
                    .host = std::move(host),
                    .joined = true,
                    .joined_at = at,
                    .heard_at = at};
}

void Recorder::host_is(Time at, const std::string& name, const std::string& state) {
  const auto known = std::find_if(hosts_.begin(), hosts_.end(),
                                  [&](const HostStatus& host) { return host.name == name; });
  if (known == hosts_.end()) {
    hosts_.push_back({name, state, at});
  } else if (known->state != state) {
    *known = {name, state, at};
  }
}

void Recorder::heard(Time at, Slot slot, const runtime::FromWorker& message) {
  if (slot < workers_.size()) workers_[slot].heard_at = at;
  if (const auto* beat = std::get_if<runtime::Heartbeat>(&message)) {
    if (slot < workers_.size() && beat->cpu_ns != 0) workers_[slot].cpu = Time(beat->cpu_ns);
  } else if (const auto* saved = std::get_if<runtime::Saved>(&message)) {
    // A peer may name any replica.
    if (job_ != nullptr && job_->hosts(slot, saved->replica)) {
      replicas_[saved->replica].state_bytes = saved->bytes;
    }
  }
}

// ---- what replicas do -----------------------------------------------------------------------

// Heartbeats and looks do not come at the same times, and a long call is told of when it has
// returned. So time is spent once: what was said beyond the time that has passed comes with the
// next look.
void Recorder::spend(Watched& replica, const runtime::Progress& total, Epoch epoch, bool running,
                     Time passed) {
  const Time busy(total.busy_ns), blocked(total.blocked_ns);
  if (epoch != replica.epoch) {
    // A call that a rollback has cut short is never told of.
    replica.busy_counted = std::min(replica.busy_counted, busy);
    replica.blocked_counted = std::min(replica.blocked_counted, blocked);
  }
  const bool at_work_all_along =
      running && epoch == replica.epoch && total.calls % 2 == 1 && total.calls == replica.calls;
  Time left = passed;
  const auto take = [&left](Time said, Time& counted, Time& into) {
    const Time part = std::clamp(said - counted, Time{}, left);
    counted += part;
    into += part;
    left -= part;
  };
  take(at_work_all_along ? replica.busy_counted + passed : busy, replica.busy_counted,
       replica.spent.busy);
  take(blocked, replica.blocked_counted, replica.spent.blocked);
  replica.spent.idle += left;
  replica.epoch = epoch;
  replica.calls = total.calls;
}

WorkStatus Recorder::work_of(Watched& replica, const runtime::Progress& total, Time at) {
  WorkStatus work{.items_in = total.items_in,
                  .items_out = total.items_out,
                  .bytes_in = total.bytes_in,
                  .bytes_out = total.bytes_out,
                  .spent = replica.spent,
                  .queued = total.queued,
                  .state_bytes = replica.state_bytes,
                  .event_time = total.event_time,
                  .items_late = total.items_late};
  auto& recent = replica.recent;
  if (!recent.empty()) {
    const Moment& then = recent.front();
    const Time passed = at - then.at;
    work.items_in_rate = per_second(then.items_in, total.items_in, passed);
    work.items_out_rate = per_second(then.items_out, total.items_out, passed);
    work.bytes_in_rate = per_second(then.bytes_in, total.bytes_in, passed);
    work.bytes_out_rate = per_second(then.bytes_out, total.bytes_out, passed);
    work.lately = {replica.spent.busy - then.spent.busy, replica.spent.blocked - then.spent.blocked,
                   replica.spent.idle - then.spent.idle};
  }
  recent.push_back(
      {at, total.items_in, total.items_out, total.bytes_in, total.bytes_out, replica.spent});
  while (recent.size() > 2 && at - recent[1].at >= window) recent.pop_front();
  return work;
}

void Recorder::look_at_replicas(JobStatus& status, Time at, const Coordinator& coordinator,
                                const Tally& tally) {
  if (!planned_at_) {
    planned_at_ = at;
    last_look_ = at;
  }
  const Time passed = at - last_look_;
  for (const NodeShape& node : job_->shape.nodes) {
    status.nodes.push_back({.name = node.name,
                            .role = engine::name_of(node.role),
                            .replicas = node.replicas,
                            .ordered = node.ordered});
  }
  for (const EdgeShape& edge : job_->shape.edges) {
    status.edges.push_back(
        {edge.from, edge.to, engine::name_of(edge.delivery), edge.back, edge.combined});
  }
  for (ReplicaId id = 0; id < replicas_.size(); ++id) {
    const flow::ReplicaPlan& plan = job_->plan.replicas[id];
    const runtime::Progress total = tally.total(id);
    Watched& watched = replicas_[id];
    spend(watched, total, coordinator.epoch(), status.running, passed);
    if (std::exchange(watched.event_time, total.event_time) != total.event_time) {
      watched.event_time_at = at;
    }
    status.replicas.push_back({.node = plan.node,
                               .index = plan.index,
                               .slot = job_->placement[id],
                               .ended = coordinator.metadata().has_ended(id),
                               .event_time_still = at - watched.event_time_at,
                               .work = work_of(watched, total, at)});
    const WorkStatus& work = status.replicas.back().work;
    NodeStatus& node = status.nodes[plan.node];
    node.work += work;
    if (busy_share(work) > node.busiest_share) {
      node.busiest = plan.index;
      node.busiest_share = busy_share(work);
    }
  }
  leave_out_ended(status);
}

void Recorder::look_at_lag(JobStatus& status, Time at, const Tally& tally) {
  std::vector<Lag::Done> done(status.nodes.size());
  for (ReplicaId id = 0; id < replicas_.size(); ++id) {
    const runtime::Progress progress = tally.of_this_epoch(id);
    Lag::Done& node = done[job_->plan.replicas[id].node];
    node.items_in += progress.items_in;
    node.items_out += progress.items_out;
  }
  lag_.look(at, tally.newest_epoch(), job_->shape, done);
  for (std::size_t node = 0; node < done.size(); ++node) status.nodes[node].waiting = lag_.of(node);
  status.lag = lag_.to_the_sinks();
}

// ---- history --------------------------------------------------------------------------------

// When the list is full two become one, and the next ones are as far apart: it is about all of the
// job, however long that takes.
void Recorder::sample(Time at, const JobStatus& status) {
  if (at - sampled_at_ < sample_every_) return;
  std::uint64_t in = 0, out = 0;
  TimeSpent spent;
  for (const ReplicaStatus& replica : status.replicas) {
    const Role role = job_->shape.nodes[replica.node].role;
    if (is_source(role)) in += replica.work.items_out;
    if (role == Role::sink || role == Role::whole) {
      out += role == Role::sink ? replica.work.items_in : replica.work.items_out;
    }
    spent += replica.work.spent;
  }
  const double all = to_seconds(spent.all() - sampled_spent_.all());
  const auto share = [all](Time part) { return all > 0 ? to_seconds(part) / all : 0; };
  samples_.push_back({at, per_second(sampled_in_, in, at - sampled_at_),
                      per_second(sampled_out_, out, at - sampled_at_),
                      share(spent.busy - sampled_spent_.busy),
                      share(spent.blocked - sampled_spent_.blocked)});
  sampled_at_ = at;
  sampled_in_ = in;
  sampled_out_ = out;
  sampled_spent_ = spent;
  if (samples_.size() < samples_max) return;
  halve(samples_);
  sample_every_ *= 2;
}

void Recorder::noted(Time at, const Note& what) {
  std::visit([this, at](const auto& one) { note(at, one); }, what);
}

// The one that things belong to which are noticed now.
FailureStatus& Recorder::failure() {
  if (failures_.empty() || failures_.back().epoch != 0) {
    push_bounded(failures_, FailureStatus{}, failures_max);
    counted_.failures_count += 1;
  }
  return failures_.back();
}

FailureStatus* Recorder::recovering(Epoch epoch) {
  const auto found = std::find_if(failures_.rbegin(), failures_.rend(),
                                  [epoch](const FailureStatus& one) { return one.epoch == epoch; });
  return found == failures_.rend() ? nullptr : &*found;
}

void Recorder::note(Time at, const Lost& lost) {
  const std::string cause = name_of(lost.cause);
  counted_.losses_by_cause[cause] += 1;
  failure().losses.push_back(
      {at, concat("worker ", lost.slot), lost.replicas, lost.how, cause, std::nullopt});
  if (lost.slot < workers_.size()) workers_[lost.slot].joined = false;
}

void Recorder::note(Time at, const ReplicaFailed& failed) {
  counted_.losses_by_cause["operator_failed"] += 1;
  const std::string item = failed.item ? concat("item ", *failed.item, ": ") : "";
  failure().losses.push_back(
      {at, failed.name, failed.name, item + failed.why, "operator_failed", std::nullopt});
}

void Recorder::note(Time at, const Recovering& recovering) {
  counted_.broadcasts.clear();  // They begin straight.
  FailureStatus& one = failure();
  one.epoch = recovering.epoch;
  one.restore = recovering.restore;
  one.redone = recovering.redone;
  one.recovering_at = at;
  counted_.recoveries += 1;
  counted_.items_redone += recovering.redone;
}

void Recorder::note(Time at, const Running& running) {
  FailureStatus* one = recovering(running.epoch);
  if (one == nullptr || one->running_at) return;
  one->running_at = at;
  counted_.recovery_seconds.add(to_seconds(at - one->noticed_at()));
}

void Recorder::note(Time at, const FirstItemOut& first) {
  FailureStatus* one = recovering(first.epoch);
  if (one != nullptr && !one->first_out_at) one->first_out_at = at;
}

void Recorder::note(Time at, const SnapshotTaken& taken) {
  push_bounded(snapshots_, {taken.snapshot, at, taken.took, taken.bytes, "", taken.under_way},
               snapshots_max);
  counted_.snapshots_taken += 1;
  counted_.snapshots_bytes += taken.bytes;
  counted_.snapshot_seconds.add(to_seconds(taken.took));
}

void Recorder::note(Time at, const SnapshotAborted& aborted) {
  push_bounded(snapshots_, {aborted.snapshot, at, Time{}, 0, aborted.why, 0}, snapshots_max);
  counted_.snapshots_failed += 1;
}

void Recorder::note(Time, const ItemSkipped&) { counted_.items_skipped += 1; }

void Recorder::note(Time at, const ScaleStarted& started) {
  counted_.scale = ScaleStatus{.change = started.change, .asked_at = at, .why = ""};
  counted_.scales_count += 1;
}

// The numbers of replicas mean others from here on.
void Recorder::note(Time at, const BroadcastRouted& routed) {
  auto& all = counted_.broadcasts;
  std::erase_if(all, [&](const BroadcastStatus& one) {
    return one.from == routed.from && one.node == routed.node;
  });
  all.push_back({routed.from, routed.node, routed.tree, at});
}

void Recorder::note(Time, const ScaleSwitched&) {
  counted_.broadcasts.clear();
  replicas_.clear();
  replicas_.resize(job_->replicas());
  sampled_in_ = sampled_out_ = 0;
  sampled_spent_ = {};
}

void Recorder::note(Time at, const ScaleEnded& ended) {
  const Time asked = counted_.scale ? counted_.scale->asked_at : at;
  counted_.scale =
      ScaleStatus{ended.change, asked, true, ended.done, ended.why, ended.took, ended.paused};
}

void Recorder::note(Time at, const SavepointBegun& begun) {
  counted_.savepoint = SavepointStatus{.name = begun.name, .asked_at = at, .why = ""};
  counted_.savepoints_count += 1;
}

void Recorder::note(Time at, const SavepointEnded& ended) {
  const Time asked = counted_.savepoint ? counted_.savepoint->asked_at : at;
  counted_.savepoint =
      SavepointStatus{ended.name, asked, true, ended.snapshot, ended.why, ended.took};
}

void Recorder::fill_history(JobStatus& status) const {
  status.snapshots.assign(snapshots_.begin(), snapshots_.end());
  status.failures.assign(failures_.begin(), failures_.end());
  status.samples = samples_;
}

std::shared_ptr<const JobStatus> Recorder::look(Time at, const Coordinator& coordinator,
                                                const Tally& tally) {
  auto status = std::make_shared<JobStatus>(counted_);
  status->facts = facts_;
  status->at = at;
  status->now = facts_.started_at + to_seconds(at);
  status->phase = name_of(coordinator.phase());
  status->epoch = coordinator.epoch();
  status->running = coordinator.phase() == Phase::running;
  status->items = tally.report.items;
  status->bytes = tally.report.bytes;
  status->read = tally.report.read;
  status->processes_started = tally.report.processes_started;
  // Those that the job has let go are not its any more.
  if (workers_.size() > coordinator.metadata().slots_wanted()) {
    workers_.resize(coordinator.metadata().slots_wanted());
  }
  status->workers = workers_;
  status->hosts = hosts_;
  status->facts.workers = coordinator.metadata().settings.slots;
  if (job_ != nullptr) {
    look_at_replicas(*status, at, coordinator, tally);
    look_at_lag(*status, at, tally);
    for (WorkerStatus& worker : status->workers) worker.replicas = job_->names_on(worker.slot);
    sample(at, *status);
    last_look_ = at;
  }
  fill_history(*status);
  for (FailureStatus& one : status->failures) {
    for (LossStatus& loss : one.losses) {
      for (const KillReport& kill : tally.report.kills) {
        if (kill.noticed_at && *kill.noticed_at == loss.at) loss.killed_at = kill.killed_at;
      }
    }
  }
  shown_ = status;
  return status;
}

std::shared_ptr<const JobStatus> Recorder::end(Time at, int code, const std::string& why,
                                               const JobReport& report) {
  auto status = shown_ ? std::make_shared<JobStatus>(*shown_) : std::make_shared<JobStatus>();
  status->facts = facts_;
  status->at = at;
  status->now = facts_.started_at + to_seconds(at);
  status->over = true;
  status->running = false;
  status->phase = "finished";
  status->code = code;
  status->why = why;
  status->items = report.items;
  status->bytes = report.bytes;
  status->read = report.read;
  status->processes_started = report.processes_started;
  for (WorkerStatus& worker : status->workers) worker.joined = false;
  shown_ = status;
  return status;
}

}  // namespace piracema::observe
