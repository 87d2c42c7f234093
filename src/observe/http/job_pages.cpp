#include "observe/http/job_pages.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "observe/http/metrics.h"
#include "observe/http/web_site.h"
#include "observe/status/status_json.h"
#include "store/snapshot/savepoint.h"

namespace piracema::observe {

namespace {

// The thread that drives the job publishes every second.
constexpr std::chrono::seconds answer_within{5};
constexpr Time silent_for = std::chrono::seconds(10);

Error bad_argument(std::string_view name, std::string_view want, std::string_view found) {
  return {Errc::usage, concat("argument '", name, "': want ", want, ", found '", found, "'")};
}

// "count=3,write=2"
Result<cluster::ScaleRequest> parse_scale(std::string_view replicas, std::string_view workers) {
  cluster::ScaleRequest request;
  const auto number = [](std::string_view text) { return parse_number<std::uint32_t>(text); };
  if (!workers.empty()) {
    const auto slots = number(workers);
    if (!slots) return bad_argument("workers", "a whole number", workers);
    request.slots = *slots;
  }
  std::string_view rest = replicas;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    const std::size_t equals = one.find('=');
    const auto count = number(one.substr(std::min(one.size(), equals + 1)));
    if (equals == one.npos || equals == 0 || !count) {
      return bad_argument("replicas", "OPERATOR=N, several with commas", replicas);
    }
    request.replicas.emplace_back(one.substr(0, equals), *count);
  }
  if (request.replicas.empty() && !request.slots) {
    return Error{Errc::usage, "want the argument 'replicas', as in replicas=count=3, or 'workers'"};
  }
  return request;
}

std::size_t number_of(const std::string& text) {
  std::size_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

Response JobPages::get(const Request& request, Time now) {
  const std::string& path = request.path;
  if (path == "/healthz" || path == "/livez") return health(now);
  if (path == "/readyz") return readiness();
  const auto status = board_.latest();
  if (path == "/metrics" || path == "/metrics/replicas") {
    const MetricsFormat format = metrics_format(request.accept);
    return {200, content_type(format),
            path == "/metrics" ? metrics(*status, format) : replica_metrics(*status, format)};
  }
  if (path == "/api/v1/job") return WebSite::json(job_json(*status));
  if (path == "/api/v1/graph") return WebSite::json(graph_json(*status));
  if (path == "/api/v1/replicas") {
    return WebSite::json(replicas_json(*status, request.node, number_of(request.from)));
  }
  if (path == "/api/v1/snapshots") return WebSite::json(snapshots_json(*status));
  if (path == "/api/v1/failures") return WebSite::json(failures_json(*status));
  if (path == "/api/v1/hosts") return WebSite::json(hosts_json(*status));
  if (path == "/api/v1/throughput") return WebSite::json(throughput_json(*status));
  if (path == "/api/v1/log") return WebSite::json(log_json());
  if (path == "/api/v1/all") return WebSite::json(all_json(*status));
  if (path == "/api/v1/stop" || path == "/api/v1/scale" || path == "/api/v1/savepoint") {
    return WebSite::not_allowed("POST");
  }
  return WebSite::text(404, "nothing here; /, /metrics, /healthz, /readyz, /api/v1/job\n");
}

// Answered at once: what follows is seen in /api/v1/job.
Response JobPages::post(const Request& request) {
  if (request.path == "/api/v1/scale") return scale(request);
  if (request.path == "/api/v1/savepoint") return savepoint(request);
  if (request.path != "/api/v1/stop") {
    return WebSite::text(404, "want POST /api/v1/stop, /api/v1/scale or /api/v1/savepoint\n");
  }
  if (!board_.ask_to_stop())
    return WebSite::json(R"({"stopping":false,"why":"the job is over"})", 409);
  return WebSite::json(R"({"stopping":true})", 202);
}

Response JobPages::not_doing(const char* what, int code, const std::string& why) {
  return WebSite::json(nlohmann::json{{what, false}, {"why", why}}.dump(
                           -1, ' ', false, nlohmann::json::error_handler_t::replace),
                       code);
}

Response JobPages::scale(const Request& request) const {
  auto wanted = parse_scale(request.replicas, request.workers);
  if (!wanted) return not_doing("scaling", 400, wanted.error().message);
  return ask("scaling", *std::move(wanted));
}

Response JobPages::savepoint(const Request& request) const {
  const auto fits = store::check_savepoint_name(request.name);
  if (!fits) return not_doing("taking", 400, concat("argument 'name': ", fits.error().message));
  return ask("taking", cluster::SavepointRequest{request.name});
}

// Answered when the coordinator has looked at it: what follows is seen in /api/v1/job.
Response JobPages::ask(const char* doing, cluster::UserRequest request) const {
  const auto answer = board_.ask(std::move(request), answer_within);
  if (!answer) return not_doing(doing, 503, "the job is over, or its coordinator does not answer");
  if (!answer->accepted) return not_doing(doing, answer->later ? 409 : 422, answer->why);
  if (answer->done) return WebSite::json(nlohmann::json{{doing, false}, {"done", true}}.dump());
  return WebSite::json(nlohmann::json{{doing, true}}.dump(), 202);
}

// Healing is health: whoever restarts what is not healthy would undo a recovery.
Response JobPages::health(Time now) const {
  const Time published = board_.published_at();
  if (published == Time{} || now - published < silent_for) return WebSite::text(200, "ok\n");
  return WebSite::text(
      503, concat("the coordinator has said nothing for ",
                  human_seconds(std::chrono::duration<double>(now - published).count()), "\n"));
}

Response JobPages::readiness() const {
  const auto status = board_.latest();
  if (status->running) return WebSite::text(200, "ok\n");
  return WebSite::text(503, concat("the job is ", status->phase, "\n"));
}

}  // namespace piracema::observe
