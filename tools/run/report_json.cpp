#include "tools/run/report_json.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <variant>

#include "tools/run/kill_order.h"

namespace piracema::tools {

namespace {

using Json = nlohmann::ordered_json;
using namespace cluster;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json seconds_or_null(const std::optional<Time>& time) {
  return time ? Json(seconds(*time)) : Json(nullptr);
}
Json ms_between(const std::optional<Time>& from, const std::optional<Time>& to) {
  if (!from || !to) return nullptr;
  return std::round(seconds(*to - *from) * 1e6) / 1e3;
}
double rate(double amount, Time time) { return time.count() == 0 ? 0 : amount / seconds(time); }

Json fields(const Lost& note) {
  return {{"event", "lost"}, {"worker", note.slot}, {"replicas", note.replicas}, {"how", note.how}};
}
Json fields(const ReplicaFailed& note) {
  return {{"event", "replica_failed"},
          {"replica", note.name},
          {"item", or_null(note.item)},
          {"why", note.why}};
}
Json fields(const Recovering& note) {
  return {{"event", "recovering"},
          {"epoch", note.epoch},
          {"snapshot", or_null(note.restore)},
          {"items_redone", note.redone}};
}
Json fields(const Running& note) { return {{"event", "running"}, {"epoch", note.epoch}}; }
Json fields(const FirstItemOut& note) {
  return {{"event", "first_item_out"}, {"epoch", note.epoch}};
}
Json fields(const SnapshotTaken& note) {
  return {{"event", "snapshot"},
          {"snapshot", note.snapshot},
          {"bytes", note.bytes},
          {"under_way_bytes", note.under_way},
          {"took", seconds(note.took)}};
}
Json fields(const SnapshotAborted& note) {
  return {{"event", "snapshot_failed"}, {"snapshot", note.snapshot}, {"why", note.why}};
}
Json fields(const ItemSkipped& note) {
  return {{"event", "item_skipped"}, {"node", note.node}, {"item", note.item}};
}
Json fields(const Reattached& note) {
  return {{"event", "reattached"}, {"term", note.term}, {"epoch", note.epoch}};
}
Json fields(const ScaleStarted& note) { return {{"event", "scaling"}, {"change", note.change}}; }
Json fields(const ScaleSwitched& note) {
  return {{"event", "scale_switched"}, {"snapshot", note.snapshot}};
}
Json fields(const ScaleEnded& note) {
  Json event = {{"event", note.done ? "scaled" : "scale_failed"}, {"change", note.change}};
  if (!note.done) event["why"] = note.why;
  event["seconds"] = seconds(note.took);
  if (note.done) event["paused"] = seconds(note.paused);
  return event;
}
Json fields(const ProcessesMoved& note) {
  return {{"event", "moved"},
          {"workers", note.slots},
          {"snapshot", note.snapshot},
          {"paused", seconds(note.paused)}};
}
Json fields(const SavepointBegun& note) {
  return {{"event", "savepoint_begun"}, {"name", note.name}};
}
Json fields(const SavepointEnded& note) {
  Json event = {{"event", note.snapshot ? "savepoint" : "savepoint_failed"}, {"name", note.name}};
  if (note.snapshot) {
    event["snapshot"] = *note.snapshot;
  } else {
    event["why"] = note.why;
  }
  event["seconds"] = seconds(note.took);
  return event;
}
Json fields(const BroadcastRouted& note) {
  return {{"event", "broadcast_routed"},
          {"worker", note.from},
          {"node", note.node},
          {"tree", note.tree}};
}
Json fields(const ReplicaBusy& note) {
  return {{"event", "busy"},
          {"replica", note.name},
          {"item", or_null(note.item)},
          {"seconds", seconds(note.since)}};
}

Json json_of(const NodeReport& node) {
  return {{"name", node.name},
          {"replicas", node.replicas},
          {"items_in", node.items_in},
          {"items_out", node.items_out},
          {"bytes_in", node.bytes_in},
          {"bytes_out", node.bytes_out},
          {"busy", seconds(node.busy)},
          {"blocked", seconds(node.blocked)},
          {"items_late", node.items_late}};
}
Json json_of(const RecoveryReport& recovery) {
  return {{"epoch", recovery.epoch},
          {"causes", recovery.causes},
          {"snapshot", or_null(recovery.restore)},
          {"items_redone", recovery.redone},
          {"noticed_at", seconds(recovery.noticed_at)},
          {"running_at", seconds_or_null(recovery.running_at)},
          {"first_out_at", seconds_or_null(recovery.first_out_at)},
          {"noticed_to_first_out_ms", ms_between(recovery.noticed_at, recovery.first_out_at)}};
}
Json json_of(const SnapshotsReport& snapshots) {
  return {{"taken", snapshots.taken},
          {"failed", snapshots.failed},
          {"bytes", snapshots.bytes},
          {"took", seconds(snapshots.took)},
          {"last", or_null(snapshots.last)}};
}

Json json_of(const ScaleReport& scale) {
  return {{"at", seconds(scale.at)},
          {"change", scale.change},
          {"done", scale.done},
          {"why", scale.why},
          {"seconds", seconds(scale.took)},
          {"paused", seconds(scale.paused)}};
}
Json json_of(const KillReport& kill) { return to_json(kill); }

template <class T>
Json list(const std::vector<T>& values) {
  Json all = Json::array();
  for (const T& value : values) all.push_back(json_of(value));
  return all;
}

}  // namespace

Json to_json(Time at, const Note& note) {
  Json event = std::visit([](const auto& what) { return fields(what); }, note);
  event["at"] = seconds(at);
  return event;
}

Json to_json(const KillReport& kill) {
  return {{"order", kill_text(kill.order)},
          {"injected", kill.killed_at.has_value()},
          {"worker", kill.killed_at ? Json(kill.slot) : Json(nullptr)},
          {"killed_at", seconds_or_null(kill.killed_at)},
          {"kill_to_noticed_ms", ms_between(kill.killed_at, kill.noticed_at)},
          {"kill_to_first_out_ms", ms_between(kill.killed_at, kill.first_out_at)}};
}

Json to_json(const JobReport& report, const JobOptions& options) {
  Json notes = Json::array();
  for (const auto& [at, note] : report.notes) notes.push_back(to_json(at, note));
  return {{"piracema", PIRACEMA_VERSION},
          {"command", options.command},
          {"code", report.code},
          {"why", report.why},
          {"seconds", seconds(report.took)},
          {"items", report.items},
          {"bytes", report.bytes},
          {"items_per_second", rate(static_cast<double>(report.items), report.took)},
          {"bytes_per_second", rate(static_cast<double>(report.bytes), report.took)},
          {"workers", options.settings.slots},
          {"processes_started", report.processes_started},
          {"cpu_seconds", seconds(report.cpu)},
          {"cores", core_count()},
          {"cpu_efficiency", cpu_efficiency(report)},
          {"peak_worker_bytes", report.peak_bytes},
          {"nodes", list(report.nodes)},
          {"snapshots", json_of(report.snapshots)},
          {"recoveries", list(report.recoveries)},
          {"kills", list(report.kills)},
          {"scales", list(report.scales)},
          {"notes", std::move(notes)}};
}

std::string line_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

unsigned core_count() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&allowed)));
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

double cpu_efficiency(const JobReport& report) {
  if (report.took.count() == 0) return 0;
  return seconds(report.cpu) / (seconds(report.took) * core_count());
}

}  // namespace piracema::tools
