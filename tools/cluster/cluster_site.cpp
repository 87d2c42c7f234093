#include "tools/cluster/cluster_site.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "observe/http/metrics_writer.h"
#include "tools/cluster/page/page_files.h"
#include "tools/cluster/stream_metrics.h"
#include "tools/cluster/view.h"

namespace piracema::tools {

namespace {

using jobs::JobState;
using observe::MetricsWriter;
using observe::Request;
using observe::Response;

// Whoever looks does so every second, and waits for an answer for some.
constexpr Time old_after = std::chrono::seconds(15);

constexpr std::array states{JobState::waiting,  JobState::running, JobState::leaving,
                            JobState::ending,   JobState::done,    JobState::failed,
                            JobState::cancelled};

double seconds_since(std::uint64_t at_ms, std::uint64_t now_ms) {
  return static_cast<double>(ago_ms(at_ms, now_ms)) / 1e3;
}

std::string text_of(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void write_control_plane(MetricsWriter& out, const smr::GroupStatus& group) {
  out.gauge("piracema_cluster_goes_on", "1 if the control plane decides: most of it is there.");
  out.put({}, std::uint64_t{group.leader.has_value()});
  out.gauge("piracema_cluster_replica_answers", "1 if the replica of the control plane answers.");
  for (const auto& one : group.replicas) {
    out.put({{"address", one.address}}, std::uint64_t{one.trouble.empty()});
  }
  out.gauge("piracema_cluster_replica_leads", "1 for the replica that leads.");
  for (const auto& one : group.replicas) {
    out.put({{"address", one.address}}, std::uint64_t{group.leader == one.id});
  }
}

void write_nodes(MetricsWriter& out, const ClusterSight& sight) {
  const auto of_each = [&](auto value) {
    for (const jobs::Node& node : sight.nodes) out.put({{"node", node.name}}, value(node));
  };
  out.gauge("piracema_cluster_node_lost", "1 for a node that was not heard of for some seconds.");
  of_each([](const jobs::Node& node) { return std::uint64_t{is_lost(node)}; });
  out.gauge("piracema_cluster_node_takes_jobs",
            "1 for a node where jobs may begin: it is heard of, does not drain, is lent, "
            "and its home has room.");
  of_each([](const jobs::Node& node) { return std::uint64_t{takes_jobs(node)}; });
  out.gauge("piracema_cluster_node_heard_seconds", "How long ago the node was heard of.");
  of_each([&](const jobs::Node& node) { return seconds_since(node.heard_ms, sight.now_ms); });
  out.gauge("piracema_cluster_node_slots", "Slots of the node.");
  of_each([](const jobs::Node& node) { return std::uint64_t{node.slots}; });
  out.gauge("piracema_cluster_node_slots_used", "Slots of the node that jobs have.");
  of_each([](const jobs::Node& node) { return std::uint64_t{node.used}; });
}

void write_jobs(MetricsWriter& out, const ClusterSight& sight) {
  std::map<std::pair<std::string, JobState>, std::uint64_t> counts;
  for (const jobs::User& user : sight.users) {
    for (const JobState state : states) counts[{user.name, state}] = 0;
  }
  double longest = 0;
  std::uint64_t losses = 0, suspended = 0;
  for (const jobs::Job& job : sight.jobs) {
    counts[{job.owner.user, job.state}] += 1;
    losses += job.losses;
    suspended += is_suspended(job) ? 1 : 0;
    if (job.state != JobState::waiting) continue;
    longest = std::max(longest, seconds_since(job.submitted_ms, sight.now_ms));
  }
  out.gauge("piracema_cluster_jobs", "Jobs that are remembered, by user and state.");
  for (const auto& [who, count] : counts) {
    out.put({{"user", who.first}, {"state", name_of(who.second)}}, count);
  }
  out.gauge("piracema_cluster_jobs_suspended",
            "Of those that run: they stand still, as a user is at their machine.");
  out.put({}, suspended);
  out.gauge("piracema_cluster_longest_wait_seconds",
            "How long ago the oldest job that waits was asked for.");
  out.put({}, longest);
  out.gauge("piracema_cluster_job_losses",
            "How often jobs that are remembered have lost their node.");
  out.put({}, losses);
}

}  // namespace

void ClusterBoard::show(ClusterSight sight, Time now) {
  auto latest = std::make_shared<const Latest>(Latest{std::move(sight), now});
  const std::lock_guard lock(mutex_);
  latest_ = std::move(latest);
}

std::shared_ptr<const ClusterBoard::Latest> ClusterBoard::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

// What was known before the control plane was lost is not known to be so.
std::string metrics(const ClusterSight& sight, observe::MetricsFormat format) {
  MetricsWriter out(format);
  write_control_plane(out, sight.group);
  if (sight.trouble.empty()) {
    write_nodes(out, sight);
    write_jobs(out, sight);
    write_streams(out, sight);
  }
  return out.end();
}

Response ClusterSite::get(const Request& request, Time now) const {
  const std::string& path = request.path;
  if (path == "/") return page(request, cluster_html);
  if (path == "/cluster.js") return script(cluster_script);
  if (path == "/healthz" || path == "/livez") return text(200, "ok\n");
  if (path == "/readyz") return readiness(now);
  if (path == "/api/v1/log") return log_of(request.job);
  const auto latest = board_.latest();
  if (latest == nullptr) return text(503, "nothing was seen of the cluster yet\n");
  if (path == "/metrics") {
    const auto format = observe::metrics_format(request.accept);
    return {200, observe::content_type(format), metrics(latest->sight, format)};
  }
  if (path == "/api/v1/cluster") return json(text_of(shown(*latest, now)));
  if (path == "/api/v1/all") {
    return json(text_of({{"kind", "cluster"}, {"cluster", shown(*latest, now)}}));
  }
  return text(404, "nothing here; /, /metrics, /healthz, /readyz, /api/v1/cluster, /api/v1/all\n");
}

nlohmann::ordered_json ClusterSite::shown(const ClusterBoard::Latest& latest, Time now) const {
  auto object = json_of(latest.sight, JobsShown::all);
  object["version"] = PIRACEMA_VERSION;
  object["seen_as"] = seen_as_;
  object["seen_ago"] = std::chrono::duration<double>(now - latest.at).count();
  return object;
}

Response ClusterSite::post(const Request&) const { return not_allowed(methods()); }

Response ClusterSite::log_of(const std::string& number) const {
  const auto id = parse_number<jobs::JobId>(number);
  if (!id) return text(400, concat("argument 'job': want a number, found '", number, "'\n"));
  const auto latest = board_.latest();
  // Nobody is made to wait for it.
  if (latest == nullptr || !latest->sight.trouble.empty()) {
    return text(503, "nothing is known of jobs while the control plane does not go on\n");
  }
  const auto job = ask_job_(*id);
  if (!job) {
    return text(job.error().code == Errc::refused ? 404 : 503, job.error().message + "\n");
  }
  return text(200, job->output);
}

Response ClusterSite::readiness(Time now) const {
  const auto latest = board_.latest();
  if (latest == nullptr) return text(503, "nothing was seen of the cluster yet\n");
  if (now - latest->at > old_after) return text(503, "the cluster was not looked at for a while\n");
  if (!latest->sight.trouble.empty()) return text(503, latest->sight.trouble + "\n");
  return text(200, "ok\n");
}

}  // namespace piracema::tools
