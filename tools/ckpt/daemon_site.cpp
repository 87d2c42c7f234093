#include "tools/ckpt/daemon_site.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"
#include "observe/status/json_numbers.h"
#include "observe/status/status_json.h"
#include "tools/ckpt/page/page_files.h"

namespace piracema::tools {

namespace {

using ckpt::DaemonFigures;
using observe::MetricsWriter;

// The daemon shows itself every second.
constexpr Time daemon_silent_for = std::chrono::seconds(10);
constexpr const char* daemon_silent = "the daemon has shown nothing for a while";
/// By their numbers.
constexpr const char* job_outcomes[] = {"ended", "stopped", "died", "failed"};

nlohmann::ordered_json until(std::optional<Time> at, Time now) {
  return at ? nlohmann::ordered_json(observe::json_seconds(*at - now))
            : nlohmann::ordered_json(nullptr);
}

const char* state_of(const DaemonFigures::Job& job) {
  if (!job.runs) return "waiting";
  return job.killed ? "killed" : job.leaves ? "leaving" : "running";
}

nlohmann::ordered_json job_json(const DaemonFigures::Job& job, Time now) {
  return {{"job", job.name},
          {"state", state_of(job)},
          {"command", job.command},
          {"directory", job.directory},
          {"stream", job.stream},
          {"runs_for", job.runs ? until(now, job.since) : nlohmann::ordered_json(nullptr)},
          {"gone_in", until(job.gone_by, now)},
          // Of one that waits. Null: not in this window.
          {"not_before_in", job.runs || !job.not_before
                                ? nlohmann::ordered_json(nullptr)
                                : nlohmann::ordered_json(
                                      std::max(0.0, observe::json_seconds(*job.not_before - now)))},
          {"left_this_window", !job.runs && !job.not_before},
          {"failures", job.failures}};
}

nlohmann::ordered_json left_json(const DaemonFigures::Left& left, Time now, double unix) {
  return {{"job", left.job},
          {"at_unix", observe::json_unix(unix - to_seconds(now - left.at))},
          {"outcome", job_outcomes[static_cast<std::size_t>(left.outcome)]},
          {"ran", observe::json_seconds(left.ran)},
          {"took", until(left.took, Time{})},
          {"given", until(left.given, Time{})}};
}

}  // namespace

std::string metrics(const DaemonSight& sight, Time now, double unix,
                    observe::MetricsFormat format) {
  const DaemonFigures& figures = sight.figures;
  const auto wall = [&](Time at) { return observe::json_unix(unix - to_seconds(now - at)); };
  MetricsWriter out(format);
  out.gauge("piracema_ckpt_daemon_info", "What runs; always 1.");
  out.put({{"host", figures.host}, {"queue", figures.queue}, {"version", PIRACEMA_VERSION}},
          std::uint64_t{1});
  out.gauge("piracema_ckpt_daemon_shown_age_seconds", "How long ago the daemon has shown itself.");
  out.put({}, to_seconds(now - sight.at));
  out.gauge("piracema_ckpt_daemon_start_timestamp_seconds", "When the daemon began, since 1970.");
  out.put({}, wall(figures.began));
  out.gauge("piracema_ckpt_daemon_lent", "1 while the machine is lent.");
  out.put({}, std::uint64_t{figures.lent});
  out.gauge("piracema_ckpt_daemon_user_present", "1 while its user is there.");
  out.put({}, std::uint64_t{figures.user_is_there});
  if (figures.closes) {
    out.gauge("piracema_ckpt_daemon_window_closes_timestamp_seconds",
              "When the open window closes, since 1970.");
    out.put({}, wall(*figures.closes));
  }
  out.gauge("piracema_ckpt_daemon_slots", "Jobs that may run at a time.");
  out.put({}, figures.slots);
  out.gauge("piracema_ckpt_daemon_jobs",
            "Jobs of the queue that have not ended: that run here, and that do not.");
  out.put({{"state", "running"}}, figures.running);
  out.put({{"state", "waiting"}}, figures.waiting);
  out.counter("piracema_ckpt_daemon_jobs_started", "How often a job was begun or gone on with.");
  out.put({}, figures.started);
  out.counter("piracema_ckpt_daemon_jobs_left", "How often one has left, by what became of it.");
  for (std::size_t i = 0; i < std::size(job_outcomes); ++i) {
    out.put({{"outcome", job_outcomes[i]}}, figures.outcomes[i]);
  }
  out.counter("piracema_ckpt_daemon_jobs_killed", "Jobs that had not left in time.");
  out.put({}, figures.killed);
  return out.end();
}

std::string daemon_json(const DaemonSight& sight, Time now, double unix) {
  using Json = nlohmann::ordered_json;
  const DaemonFigures& figures = sight.figures;
  Json jobs = Json::array(), left = Json::array(), outcomes;
  for (const auto& job : figures.jobs) jobs.push_back(job_json(job, now));
  for (auto one = figures.left.rbegin(); one != figures.left.rend(); ++one) {
    left.push_back(left_json(*one, now, unix));
  }
  for (std::size_t i = 0; i < std::size(job_outcomes); ++i) {
    outcomes[job_outcomes[i]] = figures.outcomes[i];
  }
  const Json all = {{"version", PIRACEMA_VERSION},
                    {"host", figures.host},
                    {"queue", figures.queue},
                    {"pid", figures.process},
                    {"began_at_unix", observe::json_unix(unix - to_seconds(now - figures.began))},
                    {"lent", figures.lent},
                    {"user_present", figures.user_is_there},
                    {"ends", figures.finishes},
                    {"closes_in", until(figures.closes, now)},
                    {"idle_in", until(figures.idle_at, now)},
                    {"slots", figures.slots},
                    {"running", figures.running},
                    {"waiting", figures.waiting},
                    {"jobs", std::move(jobs)},
                    {"started", figures.started},
                    {"killed", figures.killed},
                    {"outcomes", std::move(outcomes)},
                    {"left", std::move(left)},
                    {"seen_ago", observe::json_seconds(now - sight.at)}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

observe::Response DaemonSite::get(const observe::Request& request, Time now) const {
  const std::string& path = request.path;
  if (path == "/") return page(request, ckpt_daemon_html);
  if (path == "/daemon.js") return script(ckpt_daemon_script);
  const auto latest = board_->latest();
  if (latest == nullptr) return text(503, "nothing is known of the daemon yet\n");
  const bool answers = now - latest->at < daemon_silent_for;
  if (path == "/healthz" || path == "/livez") {
    return answers ? text(200, "ok\n") : text(503, concat(daemon_silent, "\n"));
  }
  if (path == "/readyz") {
    if (!answers) return text(503, concat(daemon_silent, "\n"));
    if (latest->figures.finishes) return text(503, "it ends\n");
    return latest->figures.lent ? text(200, "ok\n") : text(503, "the machine is not lent\n");
  }
  const double unix = to_seconds(
      std::chrono::duration_cast<Time>(std::chrono::system_clock::now().time_since_epoch()));
  if (path == "/metrics") {
    const auto format = observe::metrics_format(request.accept);
    return {200, observe::content_type(format), metrics(*latest, now, unix, format)};
  }
  if (path == "/api/v1/queue") return json(daemon_json(*latest, now, unix));
  if (path == "/api/v1/log") return json(observe::log_json(latest->lines));
  if (path == "/api/v1/all") {
    return all("ckpt_queue", {{"queue", daemon_json(*latest, now, unix)},
                              {"log", observe::log_json(latest->lines)}});
  }
  return text(
      404,
      "nothing here; /, /metrics, /healthz, /readyz, /api/v1/queue, /api/v1/log, /api/v1/all\n");
}

observe::Response DaemonSite::post(const observe::Request&) const { return not_allowed(methods()); }

}  // namespace piracema::tools
