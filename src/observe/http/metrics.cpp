#include "observe/http/metrics.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "base/text.h"
#include "control/coordinator/epoch/phase.h"
#include "control/loss_cause.h"

namespace piracema::observe {

namespace {

using Labels = MetricsWriter::Labels;

void put_time(MetricsWriter& out, Labels labels, const TimeSpent& spent) {
  labels.emplace_back("state", "");
  for (const auto& [state, time] :
       {std::pair{"busy", spent.busy}, std::pair{"blocked", spent.blocked},
        std::pair{"idle", spent.idle}}) {
    labels.back().second = state;
    out.put(labels, to_seconds(time));
  }
}

void put_in_and_out(MetricsWriter& out, Labels labels, std::uint64_t in, std::uint64_t to) {
  labels.emplace_back("direction", "in");
  out.put(labels, in);
  labels.back().second = "out";
  out.put(labels, to);
}

/// One of the figures of work: of each node, or of each replica.
template <class Put>
void of_each(const std::vector<std::pair<Labels, const WorkStatus*>>& all, Put put) {
  for (const auto& [labels, work] : all) put(labels, *work);
}

void write_work(MetricsWriter& out, const std::string& prefix,
                const std::vector<std::pair<Labels, const WorkStatus*>>& all) {
  out.counter(prefix + "items", "Items that came in and went out; redone work counts again.");
  of_each(all, [&](const Labels& labels, const WorkStatus& work) {
    put_in_and_out(out, labels, work.items_in, work.items_out);
  });
  out.counter(prefix + "bytes", "Bytes of the items.");
  of_each(all, [&](const Labels& labels, const WorkStatus& work) {
    put_in_and_out(out, labels, work.bytes_in, work.bytes_out);
  });
  out.counter(
      prefix + "time_seconds",
      "Time of the replicas: in the program's code, waiting for room at receivers, or idle.");
  of_each(all,
          [&](const Labels& labels, const WorkStatus& work) { put_time(out, labels, work.spent); });
  out.gauge(prefix + "queued_packets", "Packets that have come and wait for their turn.");
  of_each(all, [&](const Labels& labels, const WorkStatus& work) { out.put(labels, work.queued); });
  out.gauge(prefix + "state_bytes", "Size of the state as it was saved last.");
  of_each(all,
          [&](const Labels& labels, const WorkStatus& work) { out.put(labels, work.state_bytes); });
  const bool has_event_time = std::any_of(
      all.begin(), all.end(), [](const auto& one) { return one.second->event_time.has_value(); });
  if (!has_event_time) return;
  out.gauge(prefix + "event_time_timestamp_seconds",
            "How far event time has come behind what was sent, since 1970.");
  of_each(all, [&](const Labels& labels, const WorkStatus& work) {
    if (work.event_time) out.put(labels, to_seconds(*work.event_time));
  });
  out.counter(prefix + "late_items", "Items that were behind event time when they came.");
  of_each(all,
          [&](const Labels& labels, const WorkStatus& work) { out.put(labels, work.items_late); });
}

void write_job(MetricsWriter& out, const JobStatus& status) {
  const std::string& program = status.facts.command.empty() ? "" : status.facts.command.front();
  out.gauge("piracema_job_info", "What runs; always 1.");
  out.put({{"program", program.substr(program.rfind('/') + 1)}, {"version", status.facts.version}},
          std::uint64_t{1});
  out.gauge("piracema_job_start_timestamp_seconds", "When the job began, since 1970.");
  out.put({}, std::round(status.facts.started_at));
  out.gauge("piracema_job_phase", "1 for the phase that the job is in.");
  for (const cluster::Phase phase : cluster::phases) {
    out.put({{"phase", name_of(phase)}}, std::uint64_t{status.phase == name_of(phase)});
  }
  out.gauge("piracema_epoch", "Raised by each recovery; 1 at the beginning.");
  out.put({}, std::uint64_t{status.epoch});
  if (status.read >= 0) {
    out.gauge("piracema_source_read_ratio", "How much of their input the sources have read.");
    out.put({}, status.read);
  }
  out.counter("piracema_source_items", "Items that the sources have sent, redone ones once.");
  out.put({}, status.items);
  out.gauge("piracema_workers", "Worker processes that are in the job, and that are missing.");
  std::uint64_t joined = 0;
  for (const WorkerStatus& worker : status.workers) joined += worker.joined ? 1 : 0;
  out.put({{"state", "joined"}}, joined);
  out.put({{"state", "missing"}},
          status.facts.workers - std::min<std::uint64_t>(joined, status.facts.workers));
  out.counter("piracema_processes_started", "Worker processes that were started.");
  out.put({}, std::uint64_t{status.processes_started});
  out.counter("piracema_worker_cpu_seconds",
              "CPU time that the worker's process has used; a new process begins at 0.");
  for (const WorkerStatus& worker : status.workers) {
    out.put({{"worker", std::to_string(worker.slot)}, {"host", worker.host}},
            to_seconds(worker.cpu));
  }
}

void write_lag(MetricsWriter& out, const JobStatus& status) {
  out.gauge("piracema_waiting_items",
            "Items that were sent to the node and that it has not taken.");
  for (const NodeStatus& node : status.nodes) {
    if (node.waiting) out.put({{"node", node.name}}, node.waiting->items);
  }
  out.gauge("piracema_lag_seconds", "How long ago the oldest of them was sent.");
  for (const NodeStatus& node : status.nodes) {
    if (node.waiting) out.put({{"node", node.name}}, to_seconds(node.waiting->age));
  }
  if (!status.lag) return;
  out.gauge("piracema_sink_lag_seconds",
            "How far sinks are behind sources, along the slowest way.");
  out.put({}, to_seconds(*status.lag));
}

void write_snapshots(MetricsWriter& out, const JobStatus& status) {
  out.counter("piracema_snapshots", "Snapshots by their outcome.");
  out.put({{"outcome", "complete"}}, status.snapshots_taken);
  out.put({{"outcome", "failed"}}, status.snapshots_failed);
  out.counter("piracema_snapshot_written_bytes", "Bytes of all complete snapshots.");
  out.put({}, status.snapshots_bytes);
  out.histogram("piracema_snapshot_duration_seconds", "From barrier to complete.",
                status.snapshot_seconds);
  const SnapshotStatus* last = nullptr;
  for (const SnapshotStatus& one : status.snapshots) {
    if (one.failed.empty()) last = &one;
  }
  if (last == nullptr) return;
  out.gauge("piracema_last_snapshot_under_way_bytes",
            "Of the last complete snapshot, items that its barriers have overtaken.");
  out.put({}, last->under_way);
  out.gauge("piracema_last_snapshot_timestamp_seconds", "When it was complete, since 1970.");
  out.put({}, std::round(1e3 * (status.facts.started_at + to_seconds(last->at))) / 1e3);
  out.gauge("piracema_last_snapshot_age_seconds", "What a failure now would go back by.");
  out.put({}, to_seconds(status.at - last->at));
  out.gauge("piracema_last_snapshot_size_bytes", "Bytes of the newest complete snapshot.");
  out.put({}, last->bytes);
}

void write_failures(MetricsWriter& out, const JobStatus& status) {
  out.counter("piracema_failures", "Processes and operators that failed, by cause.");
  std::vector<const char*> causes{"operator_failed"};
  for (const cluster::LossCause cause : cluster::loss_causes) causes.push_back(name_of(cause));
  for (const char* cause : causes) {
    const auto found = status.losses_by_cause.find(cause);
    out.put({{"cause", cause}}, found == status.losses_by_cause.end() ? 0 : found->second);
  }
  out.counter("piracema_recoveries", "Returns to a snapshot.");
  out.put({}, status.recoveries);
  out.histogram("piracema_recovery_duration_seconds",
                "From what was noticed first until all replicas ran again.",
                status.recovery_seconds);
  out.counter("piracema_items_redone", "Items of the sources that recoveries have done again.");
  out.put({}, status.items_redone);
  out.counter("piracema_items_skipped", "Items in the dead letters.");
  out.put({}, status.items_skipped);
}

}  // namespace

std::string metrics(const JobStatus& status, MetricsFormat format) {
  MetricsWriter out(format);
  write_job(out, status);
  std::vector<std::pair<Labels, const WorkStatus*>> all;
  for (const NodeStatus& node : status.nodes) all.push_back({{{"node", node.name}}, &node.work});
  write_work(out, "piracema_", all);
  out.gauge("piracema_replicas", "Replicas of the node.");
  for (const NodeStatus& node : status.nodes) {
    out.put({{"node", node.name}}, std::uint64_t{node.replicas});
  }
  write_lag(out, status);
  write_snapshots(out, status);
  write_failures(out, status);
  return out.end();
}

std::string replica_metrics(const JobStatus& status, MetricsFormat format) {
  MetricsWriter out(format);
  std::vector<std::pair<Labels, const WorkStatus*>> all;
  for (const ReplicaStatus& replica : status.replicas) {
    all.push_back(
        {{{"node", status.nodes[replica.node].name}, {"replica", std::to_string(replica.index)}},
         &replica.work});
  }
  write_work(out, "piracema_replica_", all);
  return out.end();
}

}  // namespace piracema::observe
