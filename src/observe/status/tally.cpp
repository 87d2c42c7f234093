#include "observe/status/tally.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/text.h"

namespace piracema::cluster {

namespace {

constexpr std::uint32_t all_ppm = 1'000'000;

void add(runtime::Progress& to, const runtime::Progress& what) {
  to.items_in += what.items_in;
  to.items_out += what.items_out;
  to.bytes_in += what.bytes_in;
  to.bytes_out += what.bytes_out;
  to.busy_ns += what.busy_ns;
  to.blocked_ns += what.blocked_ns;
}

void count(NodeReport& node, const runtime::Progress& what) {
  node.items_in += what.items_in;
  node.items_out += what.items_out;
  node.bytes_in += what.bytes_in;
  node.bytes_out += what.bytes_out;
  node.busy += Time(what.busy_ns);
  node.blocked += Time(what.blocked_ns);
}

}  // namespace

std::uint64_t emitted_at_restore(const Coordinator& coordinator) {
  std::uint64_t items = coordinator.items_emitted();
  for (const runtime::Progress& progress : coordinator.progress()) {
    if (is_source(coordinator.job()->role(progress.replica))) items -= progress.items_out;
  }
  return items;
}

void Tally::plan(const Job& job) {
  job_ = &job;
  replicas_.resize(job.replicas());
  node_of_.clear();
  for (const auto& replica : job.plan.replicas) node_of_.push_back(replica.node);
  former_.resize(job.shape.nodes.size());
  for (const NodeShape& node : job.shape.nodes) {
    report.nodes.push_back({.name = node.name, .replicas = node.replicas});
  }
}

// The numbers of replicas mean others from here on.
void Tally::plan_again() {
  for (ReplicaId replica = 0; replica < replicas_.size(); ++replica) {
    runtime::Progress& former = former_[node_of_[replica]];
    add(former, replicas_[replica].before);
    add(former, replicas_[replica].latest);
  }
  replicas_.assign(job_->replicas(), {});
  node_of_.clear();
  for (const auto& replica : job_->plan.replicas) node_of_.push_back(replica.node);
  for (std::size_t node = 0; node < report.nodes.size(); ++node) {
    report.nodes[node].replicas = job_->shape.nodes[node].replicas;
  }
}

void Tally::heard(Slot slot, const runtime::Heartbeat& heartbeat, std::uint64_t at_restore) {
  newest_ = std::max(newest_, heartbeat.epoch);
  for (const runtime::Progress& progress : heartbeat.progress) {
    if (!job_->hosts(slot, progress.replica)) continue;
    Counts& counts = replicas_[progress.replica];
    if (heartbeat.epoch < counts.epoch) continue;
    // Counters begin anew with each epoch.
    if (heartbeat.epoch > counts.epoch) add(counts.before, counts.latest);
    counts.epoch = heartbeat.epoch;
    counts.latest = progress;
  }
  sum_up(at_restore);
}

runtime::Progress Tally::total(ReplicaId replica) const {
  const Counts& counts = replicas_[replica];
  runtime::Progress all = counts.latest;
  add(all, counts.before);
  return all;
}

runtime::Progress Tally::of_this_epoch(ReplicaId replica) const {
  const Counts& counts = replicas_[replica];
  return counts.epoch == newest_ ? counts.latest : runtime::Progress{};
}

void Tally::sum_up(std::uint64_t at_restore) {
  for (NodeReport& node : report.nodes) {
    node = {.name = std::move(node.name), .replicas = node.replicas};
  }
  double read = 0;
  std::uint64_t sources = 0, items = at_restore, all_items = 0, all_bytes = 0;
  bool known = true;
  for (std::size_t node = 0; node < former_.size(); ++node) {
    count(report.nodes[node], former_[node]);
    if (!is_source(job_->shape.nodes[node].role)) continue;
    all_items += former_[node].items_out;
    all_bytes += former_[node].bytes_out;
  }
  for (ReplicaId replica = 0; replica < replicas_.size(); ++replica) {
    const Counts& counts = replicas_[replica];
    runtime::Progress all = counts.before;
    add(all, counts.latest);
    NodeReport& node = report.nodes[job_->plan.replicas[replica].node];
    count(node, all);
    node.items_late += counts.latest.items_late;  // Of all epochs: it is state.
    if (!is_source(job_->role(replica))) continue;
    sources += 1;
    if (counts.epoch == newest_) items += counts.latest.items_out;
    all_items += all.items_out;
    all_bytes += all.bytes_out;
    known = known && counts.latest.read_ppm <= all_ppm;
    read += static_cast<double>(counts.latest.read_ppm) / all_ppm;
  }
  report.read = known && sources != 0 ? read / static_cast<double>(sources) : -1;
  report.items = items;
  // What was redone is known in items only; one is taken for as large as the average.
  const double each =
      all_items == 0 ? 0 : static_cast<double>(all_bytes) / static_cast<double>(all_items);
  report.bytes = static_cast<std::uint64_t>(each * static_cast<double>(items));
}

void Tally::noted(Time when, const Note& what) {
  report.notes.emplace_back(when, what);
  std::visit([this, when](const auto& one) { note(when, one); }, what);
}

void Tally::cause(Time when, std::string what) {
  if (causes_.empty()) first_cause_ = when;
  causes_.push_back(std::move(what));
}

RecoveryReport* Tally::recovery(Epoch epoch) {
  const auto found = std::find_if(report.recoveries.begin(), report.recoveries.end(),
                                  [&](const auto& one) { return one.epoch == epoch; });
  return found == report.recoveries.end() ? nullptr : &*found;
}

void Tally::note(Time when, const Lost& lost) {
  cause(when, concat("worker ", lost.slot, " (", lost.replicas, "): ", lost.how));
  for (KillReport& kill : report.kills) {
    if (kill.killed_at && !kill.noticed_at && kill.slot == lost.slot) kill.noticed_at = when;
  }
}

void Tally::note(Time when, const ReplicaFailed& failed) {
  cause(when, concat(failed.name, ": ", failed.why));
}

void Tally::note(Time, const Recovering& recovering) {
  report.recoveries.push_back({.epoch = recovering.epoch,
                               .causes = std::exchange(causes_, {}),
                               .restore = recovering.restore,
                               .redone = recovering.redone,
                               .noticed_at = first_cause_});
}

void Tally::note(Time when, const Running& running) {
  if (RecoveryReport* found = recovery(running.epoch)) found->running_at = when;
}

void Tally::note(Time when, const FirstItemOut& first) {
  if (RecoveryReport* found = recovery(first.epoch)) found->first_out_at = when;
  for (KillReport& kill : report.kills) {
    if (kill.noticed_at && !kill.first_out_at) kill.first_out_at = when;
  }
}

void Tally::note(Time when, const SnapshotTaken& taken) {
  report.snapshots.taken += 1;
  report.snapshots.bytes += taken.bytes;
  report.snapshots.took += taken.took;
  report.snapshots.last = taken.snapshot;
  report.snapshots.last_at = when;
}

void Tally::note(Time, const SnapshotAborted&) { report.snapshots.failed += 1; }

void Tally::note(Time when, const ScaleEnded& ended) {
  report.scales.push_back({when, ended.change, ended.done, ended.why, ended.took, ended.paused});
}

}  // namespace piracema::cluster
