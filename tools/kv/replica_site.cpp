#include "tools/kv/replica_site.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "observe/status/json_numbers.h"
#include "observe/status/status_json.h"
#include "tools/kv/page/page_files.h"

namespace piracema::tools {

namespace {

using observe::MetricsWriter;
using observe::Response;
using Member = smr::ReplicaFigures::Member;

// The replica shows itself every second.
constexpr Time replica_silent_for = std::chrono::seconds(10);

std::uint64_t flag(bool value) { return value ? 1 : 0; }

void write_members(MetricsWriter& out, const ReplicaSight& sight) {
  const auto of_each = [&](auto value) {
    for (const Member& member : sight.figures.members) {
      out.put({{"member", std::to_string(member.id)}, {"address", member.address}}, value(member));
    }
  };
  out.gauge("piracema_kv_member_connected", "1 for a member that the replica is connected to.");
  of_each([](const Member& member) { return flag(member.connected); });
  out.gauge("piracema_kv_member_leads", "1 for the member that the replica follows.");
  of_each([&](const Member& member) { return flag(member.id == sight.figures.own.leader); });
  out.gauge(
      "piracema_kv_member_behind_instances",
      "Instances that the member is behind the others; missing while nothing was heard of it.");
  for (const Member& member : sight.figures.members) {
    const auto behind = sight.behind(member);
    if (behind) {
      out.put({{"member", std::to_string(member.id)}, {"address", member.address}}, *behind);
    }
  }
}

void write_checkpoints(MetricsWriter& out, const smr::ReplicaFigures& figures) {
  out.counter("piracema_kv_checkpoints", "Checkpoints that the replica has kept.");
  out.put({}, figures.checkpoints);
  if (figures.checkpoints == 0) return;
  out.gauge("piracema_kv_last_checkpoint_age_seconds", "How long ago the last one was kept.");
  out.put({}, to_seconds(figures.checkpoint_age));
  out.gauge("piracema_kv_last_checkpoint_duration_seconds", "How long the last one took.");
  out.put({}, to_seconds(figures.checkpoint_took));
  out.gauge("piracema_kv_last_checkpoint_size_bytes", "Bytes of the last one.");
  out.put({}, figures.checkpoint_bytes);
}

}  // namespace

std::string metrics(const ReplicaSight& sight, const std::string& group,
                    observe::MetricsFormat format) {
  const smr::ReplicaFigures& figures = sight.figures;
  MetricsWriter out(format);
  out.gauge("piracema_kv_replica_info", "What runs; always 1.");
  out.put({{"group", group},
           {"replica", std::to_string(figures.own.id)},
           {"version", PIRACEMA_VERSION}},
          std::uint64_t{1});
  out.gauge(
      "piracema_kv_takes_part",
      "1 if the replica is a member, votes, and is connected to so many that the group decides.");
  out.put({}, flag(sight.trouble().empty()));
  out.gauge("piracema_kv_leads", "1 if the replica leads.");
  out.put({}, flag(figures.leads));
  out.gauge("piracema_kv_silent", "1 if it has lost what it had promised, and catches up.");
  out.put({}, flag(figures.own.silent));
  out.gauge("piracema_kv_leader_seconds", "How long the replica has followed the same leader.");
  out.put({}, to_seconds(figures.leader_for));
  out.counter("piracema_kv_leader_changes", "How often that was another one.");
  out.put({}, figures.leader_changes);
  out.gauge("piracema_kv_view", "Raised when others become members.");
  out.put({}, std::uint64_t{figures.own.view});
  out.gauge("piracema_kv_decided_instance", "The last instance up to which all are decided.");
  out.put({}, figures.own.decided);
  write_members(out, sight);
  out.counter("piracema_kv_operations", "Operations that were ordered, and reads that were not.");
  out.put({{"kind", "ordered"}}, figures.ordered);
  out.put({{"kind", "read"}}, figures.reads);
  out.gauge("piracema_kv_waiting_requests", "Requests that wait to be ordered.");
  out.put({}, figures.waiting);
  out.gauge("piracema_kv_client_connections", "Connections of clients.");
  out.put({}, figures.own.clients);
  write_checkpoints(out, figures);
  return out.end();
}

std::string replica_json(const ReplicaSight& sight, const std::string& group, Time now) {
  using Json = nlohmann::ordered_json;
  const smr::ReplicaFigures& figures = sight.figures;
  Json members = Json::array();
  for (const Member& member : figures.members) {
    const auto behind = sight.behind(member);
    members.push_back({{"id", member.id},
                       {"address", member.address},
                       {"connected", member.connected},
                       {"leads", member.id == figures.own.leader},
                       {"newest", member.newest},
                       {"behind", behind ? Json(*behind) : Json(nullptr)}});
  }
  Json past = {{"ago", Json::array()}, {"ordered", Json::array()}, {"reads", Json::array()}};
  for (const ReplicaSight::Rates& one : sight.past) {
    past["ago"].push_back(observe::json_seconds(now - one.at));
    past["ordered"].push_back(observe::json_rate(one.ordered));
    past["reads"].push_back(observe::json_rate(one.reads));
  }
  Json last = nullptr;
  if (figures.checkpoints != 0) {
    last = {{"age", observe::json_seconds(figures.checkpoint_age)},
            {"took", observe::json_seconds(figures.checkpoint_took)},
            {"bytes", figures.checkpoint_bytes}};
  }
  const std::string trouble = sight.trouble();
  const Json all = {{"version", PIRACEMA_VERSION},
                    {"group", group},
                    {"id", figures.own.id},
                    {"address", figures.own.address},
                    {"takes_part", trouble.empty()},
                    {"trouble", trouble},
                    {"leads", figures.leads},
                    {"leader", figures.own.leader},
                    {"leader_for", observe::json_seconds(figures.leader_for)},
                    {"leader_changes", figures.leader_changes},
                    {"view", figures.own.view},
                    {"regency", figures.own.regency},
                    {"silent", figures.own.silent},
                    {"decided", figures.own.decided},
                    {"quorum", figures.quorum},
                    {"here", sight.here()},
                    {"members", std::move(members)},
                    {"ordered", figures.ordered},
                    {"reads", figures.reads},
                    {"ordered_per_second", observe::json_rate(sight.rates.ordered)},
                    {"reads_per_second", observe::json_rate(sight.rates.reads)},
                    {"waiting", figures.waiting},
                    {"clients", figures.own.clients},
                    {"checkpoints", {{"kept", figures.checkpoints}, {"last", last}}},
                    {"pieces", figures.own.pieces},
                    {"pieces_of", figures.own.pieces_of},
                    {"seen_ago", observe::json_seconds(now - sight.at)},
                    {"past", std::move(past)}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Response ReplicaSite::get(const observe::Request& request, Time now) const {
  const std::string& path = request.path;
  if (path == "/") return page(request, kv_html);
  if (path == "/kv.js") return script(kv_script);
  if (path == "/api/v1/log") return json(observe::log_json());
  const auto latest = board_.latest();
  const bool answers = latest != nullptr && now - latest->at < replica_silent_for;
  if (path == "/healthz" || path == "/livez") {
    return answers ? text(200, "ok\n") : text(503, "the replica has shown nothing for a while\n");
  }
  if (latest == nullptr) return text(503, "nothing is known of the replica yet\n");
  if (path == "/readyz") {
    const std::string trouble =
        answers ? latest->trouble() : "the replica has shown nothing for a while";
    return trouble.empty() ? text(200, "ok\n") : text(503, trouble + "\n");
  }
  if (path == "/metrics") {
    const auto format = observe::metrics_format(request.accept);
    return {200, observe::content_type(format), metrics(*latest, group_, format)};
  }
  if (path == "/api/v1/replica") return json(replica_json(*latest, group_, now));
  if (path == "/api/v1/all") {
    return all("kv",
               {{"replica", replica_json(*latest, group_, now)}, {"log", observe::log_json()}});
  }
  return text(
      404,
      "nothing here; /, /metrics, /healthz, /readyz, /api/v1/replica, /api/v1/log, /api/v1/all\n");
}

Response ReplicaSite::post(const observe::Request&) const { return not_allowed(methods()); }

}  // namespace piracema::tools
