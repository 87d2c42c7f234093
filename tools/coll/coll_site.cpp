#include "tools/coll/coll_site.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"
#include "coll/plan/call.h"
#include "observe/status/json_numbers.h"
#include "tools/coll/page/page_files.h"

namespace piracema::tools {

namespace {

using coll::JobFigures;
using coll::Rank;
using observe::json_rate;
using observe::json_seconds;
using observe::json_unix;
using observe::MetricsWriter;
using observe::Response;
using Json = nlohmann::ordered_json;

/// What calls of one kind have done, whatever their size.
struct Kind {
  std::uint64_t ours = 0, native = 0;
  double ours_took = 0, native_took = 0;
};
using Kinds = std::array<Kind, coll::call_kinds>;

double in_seconds(Time time) { return std::chrono::duration<double>(time).count(); }

/// Bytes a second; nothing for a time that is not known, or that no network has.
std::optional<double> rate_of(double megabyte) {
  return megabyte > 1e-9 ? std::optional(1e6 / megabyte) : std::nullopt;
}

Kinds kinds_of(const JobFigures& figures) {
  Kinds kinds{};
  for (const auto& one : figures.by_class) {
    Kind& kind = kinds[one.call_class / coll::call_sizes];
    kind.ours += one.ours;
    kind.native += one.native;
    kind.ours_took += one.ours_took;
    kind.native_took += one.native_took;
  }
  return kinds;
}

void write_calls(MetricsWriter& out, const JobFigures& figures) {
  out.counter("piracema_coll_rank_calls",
              "Collective calls of rank 0, by what was done: along trees, left to the MPI library "
              "after a look, not looked at.");
  out.put({{"done", "trees"}}, figures.ours);
  out.put({{"done", "native"}}, figures.intercepted - figures.ours);
  out.put({{"done", "not_looked_at"}}, figures.calls - figures.intercepted);
  const Kinds kinds = kinds_of(figures);
  out.counter("piracema_coll_calls",
              "Calls on communicators of all ranks, in windows that are over.");
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i].ours + kinds[i].native == 0) continue;
    out.put({{"call", coll::call_names[i]}, {"way", "trees"}}, kinds[i].ours);
    out.put({{"call", coll::call_names[i]}, {"way", "native"}}, kinds[i].native);
  }
  out.counter("piracema_coll_calls_time_seconds",
              "How long these took, at the rank that was slowest in each window.");
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i].ours + kinds[i].native == 0) continue;
    out.put({{"call", coll::call_names[i]}, {"way", "trees"}}, kinds[i].ours_took);
    out.put({{"call", coll::call_names[i]}, {"way", "native"}}, kinds[i].native_took);
  }
  out.gauge("piracema_coll_gained_seconds",
            "What calls along trees took less than native ones would have, as measured; below 0 "
            "for more.");
  out.put({}, figures.gained);
}

void write_links(MetricsWriter& out, const JobFigures& figures) {
  out.gauge("piracema_coll_link_pairs", "Pairs of ranks.");
  out.put({}, figures.pairs);
  out.gauge("piracema_coll_link_pairs_measured", "Those whose link was measured.");
  out.put({}, figures.pairs_measured);
  const auto family = [&](const char* name, const char* help, double JobFigures::Link::*what) {
    out.gauge(name, help);
    for (const auto& link : figures.links) {
      if (link.*what >= 0) out.put({{"rank", std::to_string(link.to)}}, link.*what);
    }
  };
  if (figures.links.empty()) return;
  family("piracema_coll_link_latency_seconds", "From rank 0, one way.", &JobFigures::Link::latency);
  family("piracema_coll_link_error_seconds", "How far forecasts of it lie from what comes.",
         &JobFigures::Link::error);
  family("piracema_coll_link_age_seconds", "Since an answer of that rank came.",
         &JobFigures::Link::age);
  out.gauge("piracema_coll_link_rate_bytes_per_second",
            "Of large data between rank 0 and another one.");
  for (const auto& link : figures.links) {
    const std::string rank = std::to_string(link.to);
    if (const auto there = rate_of(link.megabyte_to)) {
      out.put({{"rank", rank}, {"direction", "to"}}, *there);
    }
    if (const auto back = rate_of(link.megabyte_from)) {
      out.put({{"rank", rank}, {"direction", "from"}}, *back);
    }
  }
}

void write_trees(MetricsWriter& out, const JobFigures& figures) {
  out.counter("piracema_coll_trees", "Trees of rank 0 that came into use.");
  out.put({}, figures.trees_made);
  if (!figures.trees.empty()) {
    const auto& newest = figures.trees.back();
    out.gauge("piracema_coll_tree_expected_seconds",
              "What a broadcast along rank 0's newest tree is expected to take.");
    out.put({}, newest.expected);
    out.gauge("piracema_coll_tree_binomial_seconds",
              "What the same would take along a binomial tree, by the same links.");
    out.put({}, newest.binomial);
  }
  if (figures.engine != "mst") return;
  const auto& mst = figures.mst;
  out.counter("piracema_coll_mst_rounds",
              "Rounds of the distributed tree that are over at rank 0.");
  out.put({}, mst.rounds);
  out.counter("piracema_coll_mst_letters", "Messages of rank 0 for them.");
  out.put({}, mst.letters);
  out.counter("piracema_coll_mst_broadcasts", "Broadcasts of rank 0, by what they went along.");
  out.put({{"tree", "round"}}, mst.along_rounds);
  out.put({{"tree", "binomial"}}, mst.binomial);
  out.put({{"tree", "own_view"}}, mst.own_view);
  out.counter("piracema_coll_mst_fallen_back",
              "Broadcasts of rank 0 along another tree although a round was over.");
  out.put({}, mst.fallen_back);
}

/// Null where it is not known.
Json known(double value) { return value >= 0 ? Json(json_seconds(value)) : Json(nullptr); }
Json rate(double megabyte) {
  const auto known_rate = rate_of(megabyte);
  return known_rate ? Json(json_rate(*known_rate)) : Json(nullptr);
}

Json calls_json(const JobFigures& figures) {
  Json calls = Json::array();
  for (const auto& one : figures.by_class) {
    const std::uint64_t most = coll::class_bytes_max[one.call_class % coll::call_sizes];
    Json gained = nullptr;
    if (one.ours > 0 && one.native > 0) {
      gained = json_seconds(one.native_took / static_cast<double>(one.native) *
                                static_cast<double>(one.ours) -
                            one.ours_took);
    }
    calls.push_back({{"call", coll::call_names[one.call_class / coll::call_sizes]},
                     {"bytes_max", most == ~std::uint64_t{0} ? Json(nullptr) : Json(most)},
                     {"ours", one.ours},
                     {"native", one.native},
                     {"ours_took", json_seconds(one.ours_took)},
                     {"native_took", json_seconds(one.native_took)},
                     {"gained", std::move(gained)},
                     {"go", one.go_ours ? "trees" : "native"}});
  }
  return calls;
}

Json links_json(const JobFigures& figures) {
  Json links = Json::array();
  for (const auto& link : figures.links) {
    links.push_back({{"rank", link.to},
                     {"latency", known(link.latency)},
                     {"error", known(link.error)},
                     {"rate_to", rate(link.megabyte_to)},
                     {"rate_from", rate(link.megabyte_from)},
                     {"age", known(link.age)}});
  }
  return links;
}

Json sites_json(const JobFigures& figures) {
  if (figures.site_of.empty()) return nullptr;
  const std::size_t count =
      *std::max_element(figures.site_of.begin(), figures.site_of.end()) + std::size_t{1};
  Json latencies = nullptr;
  if (!figures.site_latencies.empty()) {
    latencies = Json::array();
    for (std::size_t a = 0; a < count; ++a) {
      Json row = Json::array();
      for (std::size_t b = 0; b < count; ++b) {
        row.push_back(known(figures.site_latencies[a * count + b]));
      }
      latencies.push_back(std::move(row));
    }
  }
  return {{"count", count}, {"of_rank", figures.site_of}, {"latencies", std::move(latencies)}};
}

/// -1 for the root.
Json parents_json(const std::vector<Rank>& all) {
  Json parents = Json::array();
  for (const Rank parent : all) {
    parents.push_back(parent == coll::no_rank ? Json(-1) : Json(parent));
  }
  return parents;
}
Json latencies_json(const std::vector<double>& all) {
  Json latencies = Json::array();
  for (const double latency : all) latencies.push_back(known(latency));
  return latencies;
}

Json trees_json(const JobFigures& figures) {
  Json trees = Json::array();
  for (auto tree = figures.trees.rbegin(); tree != figures.trees.rend(); ++tree) {
    trees.push_back({{"at", json_seconds(tree->at)},
                     {"root", 0},
                     {"bytes", tree->bytes},
                     {"expected", json_seconds(tree->expected)},
                     {"binomial", json_seconds(tree->binomial)},
                     {"parents", parents_json(tree->parents)},
                     {"latencies", latencies_json(tree->latencies)}});
  }
  return trees;
}

Json mst_json(const JobFigures& figures) {
  if (figures.engine != "mst") return nullptr;
  const auto& mst = figures.mst;
  Json neighbours = Json::array();
  for (std::size_t i = 0; i < mst.neighbours.size(); ++i) {
    neighbours.push_back({{"rank", mst.neighbours[i]}, {"cost", known(mst.costs[i])}});
  }
  return {{"rounds", mst.rounds},
          {"letters", mst.letters},
          {"along_rounds", mst.along_rounds},
          {"binomial", mst.binomial},
          {"own_view", mst.own_view},
          {"fallen_back", mst.fallen_back},
          {"neighbours", std::move(neighbours)},
          {"parents", mst.parents.empty() ? Json(nullptr) : parents_json(mst.parents)},
          {"latencies", mst.parents.empty() ? Json(nullptr) : latencies_json(mst.latencies)}};
}

const char* state_of(const CollSight& sight) {
  if (!sight.figures) return "starting";
  return sight.figures->is_over ? "over" : "running";
}

std::string launcher_of(const CollStart& start) {
  // Its options come before the program: which word that is only the launcher knows.
  const std::string& launcher = start.command.front();
  return launcher.substr(launcher.rfind('/') + 1);
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string metrics(const CollSight& sight, Time now, double unix, observe::MetricsFormat format) {
  MetricsWriter out(format);
  const JobFigures nothing;
  const JobFigures& figures = sight.figures ? *sight.figures : nothing;
  out.gauge("piracema_coll_job_info", "What runs; always 1.");
  out.put({{"launcher", launcher_of(sight.start)},
           {"engine", figures.engine},
           {"mpi", sight.start.mpi},
           {"left_alone", figures.left_alone},
           {"version", PIRACEMA_VERSION}},
          std::uint64_t{1});
  out.gauge("piracema_coll_ready", "1 if rank 0 runs and shows itself, as of /readyz.");
  out.put({}, std::uint64_t{sight.trouble(now).empty()});
  out.gauge("piracema_coll_start_timestamp_seconds", "When the launcher was started, since 1970.");
  out.put({}, json_unix(unix - in_seconds(now - sight.start.at)));
  if (!sight.figures) return out.end();
  out.gauge("piracema_coll_shown_age_seconds",
            "How long ago rank 0 has shown itself, which it does every second.");
  out.put({}, in_seconds(now - sight.at));
  out.gauge("piracema_coll_ranks", "Ranks of the job.");
  out.put({}, std::uint64_t{figures.ranks});
  if (!figures.hosts.empty()) {
    out.gauge("piracema_coll_hosts", "Hosts that they run on.");
    out.put({}, std::uint64_t{figures.hosts.size()});
  }
  out.gauge("piracema_coll_left_alone", "1 if every call is left to the MPI library.");
  out.put({}, std::uint64_t{!figures.left_alone.empty()});
  write_calls(out, figures);
  if (!figures.left_alone.empty()) return out.end();
  write_links(out, figures);
  write_trees(out, figures);
  return out.end();
}

std::string coll_json(const CollSight& sight, Time now, double unix) {
  const std::string trouble = sight.trouble(now);
  Json json = {{"version", PIRACEMA_VERSION},
               {"command", sight.start.command},
               {"mpi", sight.start.mpi},
               {"began_at_unix", json_unix(unix - in_seconds(now - sight.start.at))},
               {"state", state_of(sight)},
               {"ready", trouble.empty()},
               {"trouble", trouble}};
  if (!sight.figures) {
    json["seen_ago"] = nullptr;
    json["job"] = nullptr;
    return text_of(json);
  }
  const JobFigures& figures = *sight.figures;
  json["seen_ago"] = json_seconds(now - sight.at);
  json["job"] = {{"engine", figures.engine},
                 {"library", figures.mpi},
                 {"ranks", figures.ranks},
                 {"host_of_rank_0", figures.host},
                 {"pid_of_rank_0", figures.process},
                 {"hosts", figures.hosts},
                 {"host_of", figures.host_of},
                 {"left_alone", figures.left_alone},
                 {"ran", json_seconds(figures.ran)},
                 {"calls",
                  {{"of_rank_0", figures.calls},
                   {"intercepted", figures.intercepted},
                   {"ours", figures.ours},
                   {"by_class", calls_json(figures)}}},
                 {"gained", json_seconds(figures.gained)},
                 {"pairs", figures.pairs},
                 {"pairs_measured", figures.pairs_measured},
                 {"links", links_json(figures)},
                 {"sites", sites_json(figures)},
                 {"trees_made", figures.trees_made},
                 {"trees", trees_json(figures)},
                 {"mst", mst_json(figures)},
                 {"remarks", sight.remarks()}};
  return text_of(json);
}

Response CollSite::get(const observe::Request& request, Time now) const {
  const std::string& path = request.path;
  if (path == "/") return page(request, coll_html);
  if (path == "/coll.js") return script(coll_script);
  if (path == "/healthz" || path == "/livez") return text(200, "ok\n");
  const auto latest = board_->latest();
  const double unix = in_seconds(
      std::chrono::duration_cast<Time>(std::chrono::system_clock::now().time_since_epoch()));
  if (path == "/readyz") {
    const std::string trouble = latest->trouble(now);
    return trouble.empty() ? text(200, "ok\n") : text(503, trouble + "\n");
  }
  if (path == "/metrics") {
    const auto format = observe::metrics_format(request.accept);
    return {200, observe::content_type(format), metrics(*latest, now, unix, format)};
  }
  if (path == "/api/v1/job") return json(coll_json(*latest, now, unix));
  if (path == "/api/v1/all") return all("coll", {{"job", coll_json(*latest, now, unix)}});
  return text(404, "nothing here; /, /metrics, /healthz, /readyz, /api/v1/job, /api/v1/all\n");
}

Response CollSite::post(const observe::Request&) const { return not_allowed(methods()); }

}  // namespace piracema::tools
