#include "observe/status/status_json.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/log.h"
#include "base/text.h"
#include "observe/status/json_numbers.h"

namespace piracema::observe {

namespace {

using Json = nlohmann::ordered_json;

// What workers say of themselves by heartbeats is no more exact than that.
Json time(Time time) { return std::round(to_seconds(time) * 1e4) / 1e4; }
Json time(const std::optional<Time>& when) { return when ? time(*when) : Json(nullptr); }
Json rate(double value) { return json_rate(value); }

std::string text_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json fields(const WorkStatus& work) {
  return {{"items_in", work.items_in},
          {"items_out", work.items_out},
          {"bytes_in", work.bytes_in},
          {"bytes_out", work.bytes_out},
          {"items_in_per_second", rate(work.items_in_rate)},
          {"items_out_per_second", rate(work.items_out_rate)},
          {"bytes_in_per_second", rate(work.bytes_in_rate)},
          {"bytes_out_per_second", rate(work.bytes_out_rate)},
          {"busy", time(work.spent.busy)},
          {"blocked", time(work.spent.blocked)},
          {"idle", time(work.spent.idle)},
          {"busy_share", json_share(busy_share(work))},
          {"blocked_share", json_share(blocked_share(work))},
          {"queued", work.queued},
          {"state_bytes", work.state_bytes},
          {"event_time_unix",
           work.event_time ? Json(json_unix(to_seconds(*work.event_time))) : Json(nullptr)},
          {"items_late", work.items_late}};
}

std::string name_of(const JobStatus& status, const ReplicaStatus& replica) {
  const NodeStatus& node = status.nodes[replica.node];
  return node.replicas == 1 ? node.name : concat(node.name, "/", replica.index);
}

Json scale(const JobStatus& status) {
  if (!status.scale) return nullptr;
  const ScaleStatus& one = *status.scale;
  Json all = {{"change", one.change},
              {"asked_at", time(one.asked_at)},
              {"state", !one.over  ? "under way"
                        : one.done ? "done"
                                   : "given up"}};
  if (!one.over) return all;
  all["why"] = one.why;
  all["took"] = time(one.took);
  all["paused"] = time(one.paused);
  return all;
}

Json savepoint(const JobStatus& status) {
  if (!status.savepoint) return nullptr;
  const SavepointStatus& one = *status.savepoint;
  Json all = {{"name", one.name},
              {"asked_at", time(one.asked_at)},
              {"state", !one.over      ? "under way"
                        : one.snapshot ? "done"
                                       : "failed"}};
  if (!one.over) return all;
  all["snapshot"] = one.snapshot ? Json(*one.snapshot) : Json(nullptr);
  all["why"] = one.why;
  all["took"] = time(one.took);
  return all;
}

Json failure(const FailureStatus& one) {
  Json losses = Json::array();
  for (const LossStatus& loss : one.losses) {
    losses.push_back({{"at", time(loss.at)},
                      {"who", loss.who},
                      {"replicas", loss.replicas},
                      {"how", loss.how},
                      {"cause", loss.cause},
                      {"killed_at", time(loss.killed_at)}});
  }
  const auto after = [&](const std::optional<Time>& when) {
    return when ? time(*when - one.noticed_at()) : Json(nullptr);
  };
  return {{"noticed_at", time(one.noticed_at())},
          {"losses", std::move(losses)},
          {"epoch", one.epoch == 0 ? Json(nullptr) : Json(one.epoch)},
          {"snapshot", one.restore ? Json(*one.restore) : Json(nullptr)},
          {"items_redone", one.redone},
          {"recovering_after", after(one.recovering_at)},
          {"running_after", after(one.running_at)},
          {"first_out_after", after(one.first_out_at)}};
}

Json failures(const JobStatus& status) {
  Json rows = Json::array();
  for (const FailureStatus& one : status.failures) rows.push_back(failure(one));
  return {{"count", status.failures_count}, {"failures", std::move(rows)}};
}

Json job(const JobStatus& status) {
  const auto& command = status.facts.command;
  const std::string program = command.empty() ? "" : command.front();
  Json settings = Json::object();
  for (const auto& [name, value] : status.facts.settings) settings[name] = value;
  double in = 0, out = 0;
  std::uint64_t replicas = 0, queued = 0;
  for (const NodeStatus& node : status.nodes) {
    replicas += node.replicas;
    queued += node.work.queued;
    if (node.role == "source") in += node.work.items_out_rate;
    if (node.role == "sink") out += node.work.items_in_rate;
    if (node.role == "program") {
      in += node.work.items_out_rate;
      out += node.work.items_out_rate;
    }
  }
  Json last = nullptr;
  for (const SnapshotStatus& one : status.snapshots) {
    if (one.failed.empty())
      last = {{"snapshot", one.snapshot},
              {"at", time(one.at)},
              {"bytes", one.bytes},
              {"under_way_bytes", one.under_way},
              {"took", time(one.took)}};
  }
  return {
      {"program", program.substr(program.rfind('/') + 1)},
      {"command", command},
      {"version", status.facts.version},
      {"started_at_unix", status.facts.started_at},
      {"now_at_unix", status.now},
      {"at", time(status.at)},
      {"phase", status.phase},
      {"epoch", status.epoch},
      {"over", status.over},
      {"code", status.over ? Json(status.code) : Json(nullptr)},
      {"why", status.why},
      {"items", status.items},
      {"bytes", status.bytes},
      {"read", status.read < 0 ? Json(nullptr) : Json(json_share(status.read))},
      {"items_in_per_second", rate(in)},
      {"items_out_per_second", rate(out)},
      {"queued", queued},
      {"lag", time(status.lag)},
      {"bottleneck", bottleneck(status)},
      {"replicas", replicas},
      {"workers", status.facts.workers},
      {"coordinator",
       {{"host", status.facts.coordinator.host},
        {"pid", status.facts.coordinator.pid},
        {"since_unix", status.facts.coordinator.since}}},
      {"cores", status.facts.cores},
      {"processes_started", status.processes_started},
      {"snapshots",
       {{"every", status.facts.snapshots ? time(status.facts.snapshot_interval) : Json(nullptr)},
        {"taken", status.snapshots_taken},
        {"failed", status.snapshots_failed},
        {"bytes", status.snapshots_bytes},
        {"last", last}}},
      {"scale", scale(status)},
      {"scales", status.scales_count},
      {"savepoint", savepoint(status)},
      {"savepoints", status.savepoints_count},
      {"failures", status.failures_count},
      {"failure", status.failures.empty() ? Json(nullptr) : failure(status.failures.back())},
      {"recoveries", status.recoveries},
      {"items_redone", status.items_redone},
      {"items_skipped", status.items_skipped},
      {"settings", settings}};
}

Json graph(const JobStatus& status) {
  Json nodes = Json::array(), edges = Json::array();
  for (const NodeStatus& node : status.nodes) {
    Json one = {{"name", node.name},
                {"role", node.role},
                {"replicas", node.replicas},
                {"ordered", node.ordered},
                {"busiest_replica", node.busiest},
                {"busiest_share", json_share(node.busiest_share)},
                {"waiting_items", node.waiting ? Json(node.waiting->items) : Json(nullptr)},
                {"lag", node.waiting ? time(node.waiting->age) : Json(nullptr)}};
    one.update(fields(node.work));
    nodes.push_back(std::move(one));
  }
  for (const EdgeStatus& edge : status.edges) {
    edges.push_back({{"from", edge.from},
                     {"to", edge.to},
                     {"delivery", edge.delivery},
                     {"back", edge.back},
                     {"combined", edge.combined}});
  }
  return {{"nodes", std::move(nodes)}, {"edges", std::move(edges)}};
}

Json replicas(const JobStatus& status, const std::string& node, std::size_t from) {
  Json rows = Json::array();
  std::size_t count = 0;
  for (const ReplicaStatus& replica : status.replicas) {
    if (!node.empty() && status.nodes[replica.node].name != node) continue;
    count += 1;
    if (count <= from || rows.size() == replicas_json_max) continue;
    Json one = {{"name", name_of(status, replica)},
                {"node", status.nodes[replica.node].name},
                {"replica", replica.index},
                {"worker", replica.slot},
                {"ended", replica.ended}};
    one.update(fields(replica.work));
    rows.push_back(std::move(one));
  }
  return {{"count", count}, {"from", from}, {"replicas", std::move(rows)}};
}

Json snapshots(const JobStatus& status) {
  Json rows = Json::array();
  for (const SnapshotStatus& one : status.snapshots) {
    rows.push_back({{"snapshot", one.snapshot},
                    {"at", time(one.at)},
                    {"took", time(one.took)},
                    {"bytes", one.bytes},
                    {"under_way_bytes", one.under_way},
                    {"failed", one.failed.empty() ? Json(nullptr) : Json(one.failed)}});
  }
  return {{"count", status.snapshots_taken + status.snapshots_failed},
          {"snapshots", std::move(rows)}};
}

Json hosts(const JobStatus& status) {
  std::map<std::string, Json> by_name;
  for (const WorkerStatus& worker : status.workers) {
    if (worker.joined_at == Time{} && worker.pid == 0) continue;  // Nobody has had the slot yet.
    by_name.try_emplace(worker.host, Json::array())
        .first->second.push_back({{"worker", worker.slot},
                                  {"pid", worker.pid},
                                  {"incarnation", worker.incarnation},
                                  {"joined", worker.joined},
                                  {"joined_at", time(worker.joined_at)},
                                  {"heard_at", time(worker.heard_at)},
                                  {"cpu", time(worker.cpu)},
                                  {"replicas", worker.replicas}});
  }
  Json rows = Json::array();
  for (const HostStatus& host : status.hosts) {
    const auto found = by_name.extract(host.name);
    rows.push_back({{"name", host.name},
                    {"state", host.state},
                    {"since", time(host.since)},
                    {"workers", found ? found.mapped() : Json::array()}});
  }
  for (auto& [name, workers] : by_name) {
    rows.push_back(
        {{"name", name}, {"state", nullptr}, {"since", nullptr}, {"workers", std::move(workers)}});
  }
  Json broadcasts = Json::array();
  for (const BroadcastStatus& one : status.broadcasts) {
    broadcasts.push_back(
        {{"worker", one.from}, {"node", one.node}, {"tree", one.tree}, {"since", time(one.at)}});
  }
  return {{"hosts", std::move(rows)}, {"broadcasts", std::move(broadcasts)}};
}

Json throughput(const JobStatus& status) {
  Json at = Json::array(), in = Json::array(), out = Json::array(), busy = Json::array(),
       blocked = Json::array();
  for (const SampleStatus& one : status.samples) {
    at.push_back(time(one.at));
    in.push_back(rate(one.in));
    out.push_back(rate(one.out));
    busy.push_back(json_share(one.busy));
    blocked.push_back(json_share(one.blocked));
  }
  return {{"at", at}, {"in", in}, {"out", out}, {"busy", busy}, {"blocked", blocked}};
}

Json log_lines(const std::vector<LoggedLine>& lines) {
  Json rows = Json::array();
  for (const LoggedLine& line : lines) {
    rows.push_back(
        {{"at_unix", json_unix(line.at)}, {"level", name_of(line.level)}, {"text", line.text}});
  }
  return {{"lines", std::move(rows)}};
}

}  // namespace

std::string job_json(const JobStatus& status) { return text_of(job(status)); }
std::string graph_json(const JobStatus& status) { return text_of(graph(status)); }
std::string replicas_json(const JobStatus& status, const std::string& node, std::size_t from) {
  return text_of(replicas(status, node, from));
}
std::string snapshots_json(const JobStatus& status) { return text_of(snapshots(status)); }
std::string failures_json(const JobStatus& status) { return text_of(failures(status)); }
std::string hosts_json(const JobStatus& status) { return text_of(hosts(status)); }
std::string throughput_json(const JobStatus& status) { return text_of(throughput(status)); }
std::string log_json() { return log_json(logged_lines()); }
std::string log_json(const std::vector<LoggedLine>& lines) { return text_of(log_lines(lines)); }

std::string all_json(const JobStatus& status) {
  return text_of({{"kind", "stream"},
                  {"job", job(status)},
                  {"graph", graph(status)},
                  {"replicas", replicas(status, "", 0)},
                  {"snapshots", snapshots(status)},
                  {"failures", failures(status)},
                  {"hosts", hosts(status)},
                  {"throughput", throughput(status)},
                  {"log", log_lines(logged_lines())}});
}

}  // namespace piracema::observe
