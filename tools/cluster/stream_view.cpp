#include "tools/cluster/stream_view.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "tools/cluster/columns.h"
#include "tools/cluster/view.h"
#include "tools/terminal_text.h"

namespace piracema::tools {

using jobs::StreamSight;

namespace {

// Nodes look every five seconds, every second while somebody asks, every ten where a stream was
// late; and tell that there is none every thirty.
constexpr std::uint64_t old_ms = 15'000, old_none_ms = 60'000;

std::string time_text(std::uint64_t ms) { return human_seconds(static_cast<double>(ms) / 1e3); }
std::string size_text(std::uint64_t bytes) { return human_bytes(static_cast<double>(bytes)); }

std::string count_text(double count) {
  static constexpr std::array<const char*, 6> units = {"", "k", "M", "G", "T", "P"};
  std::size_t unit = 0;
  for (; count >= 999.5 && unit + 1 < units.size(); ++unit) count /= 1'000;
  std::array<char, 32> out{};
  const bool is_short = count >= 100 || (unit == 0 && count == std::floor(count));
  std::snprintf(out.data(), out.size(), "%.*f%s", is_short ? 0 : 1, count, units[unit]);
  return out.data();
}

std::string percent_text(double share) { return concat(std::lround(100 * share), " %"); }

std::string snapshot_text(const StreamSight& sight) {
  if (!sight.snapshot) return "none";
  return concat(time_text(sight.snapshot->age_ms), " ago, ", size_text(sight.snapshot->bytes),
                " in ", time_text(sight.snapshot->took_ms));
}

std::string coordinator_text(const StreamSight& sight) {
  if (!sight.coordinator) return "unknown";
  return concat(sight.coordinator->host, " for ", time_text(sight.coordinator->for_ms));
}

/// Of the newest one, which was noticed some time before.
std::string failure_text(const StreamSight& sight) {
  return concat(time_text(sight.failure->age_ms), " ago ", explained(*sight.failure));
}

/// By what, and what more is known of that. Causes are the words of LossCause in src/control, and
/// of a replica's failure; some are in `how` again.
std::string noticed_text(const std::string& cause, std::string how) {
  struct Words {
    const char *cause, *text, *again;
  };
  static constexpr std::array<Words, 6> all = {
      {{"process_ended", "by the end of its process", "its process ended"},
       {"connection_ended", "by the end of its connection", "its connection ended"},
       {"silent", "by its silence", ""},
       {"not_joined", "by its absence", ""},
       {"stuck", "by its standstill", ""},
       {"operator_failed", "by what its operator threw", ""}}};
  std::string text = "otherwise";
  for (const Words& words : all) {
    if (cause != words.cause) continue;
    text = words.text;
    if (how.starts_with(words.again)) how.erase(0, std::string_view(words.again).size());
  }
  if (how.starts_with(": ")) how.erase(0, 2);
  return how.empty() ? text : concat(text, ": ", how);
}

std::string loss_text(const StreamSight::Failure& failure) {
  if (failure.who.empty() && failure.cause.empty()) {
    return "nothing was lost, but another coordinator took the job over while workers changed";
  }
  std::string text = failure.who.empty() ? "something" : failure.who;
  if (!failure.replicas.empty() && failure.replicas != failure.who) {
    text += concat(" (", failure.replicas, ")");
  }
  if (failure.others != 0) {
    text += concat(" and ", failure.others, failure.others == 1 ? " other" : " others");
  }
  text += failure.others == 0 ? " was lost" : " were lost";
  if (failure.noticed_after_ms) {
    text += concat(", ", time_text(*failure.noticed_after_ms), " before that was noticed");
  }
  return concat(text, "; noticed ", noticed_text(failure.cause, failure.how));
}

}  // namespace

std::optional<std::string> why_unknown(const jobs::Job& job, const StreamSight* sight,
                                       std::uint64_t now_ms) {
  const std::string its_node = concat("its node ", job.node, " has ");
  if (sight == nullptr || sight->attempt != jobs::Attempt{job.id, job.attempt}) {
    return its_node + "not told of it yet";
  }
  const std::uint64_t ago = ago_ms(sight->told_ms, now_ms);
  const bool is_none = sight->why == jobs::shows_no_stream;
  if (ago > (is_none ? old_none_ms : old_ms)) {
    return concat(its_node, "not told of it for ", time_text(ago));
  }
  if (!sight->why.empty()) return sight->why;
  return std::nullopt;
}

std::string explained(const StreamSight::Failure& failure) {
  std::string text = loss_text(failure);
  if (!failure.running_after_ms) return text + ". The stream is on its way back.";
  text += ". The stream went back to ";
  text += failure.snapshot ? concat("snapshot ", *failure.snapshot) : "the beginning";
  return concat(text, ", ran again ", time_text(*failure.running_after_ms),
                " after that was noticed, and did ", failure.items_redone,
                failure.items_redone == 1 ? " item" : " items", " again.");
}

StreamSight as_of(StreamSight sight, std::uint64_t now_ms) {
  const std::uint64_t ago = ago_ms(sight.told_ms, now_ms);
  if (sight.failure) sight.failure->age_ms += ago;
  if (sight.coordinator) sight.coordinator->for_ms += ago;
  return sight;
}

nlohmann::ordered_json stream_json(const jobs::Job& job, const StreamSight* told,
                                   std::uint64_t now_ms) {
  using Json = nlohmann::ordered_json;
  if (auto why = why_unknown(job, told, now_ms)) {
    return {{"known", false}, {"why", *std::move(why)}};
  }
  const StreamSight sight = as_of(*told, now_ms);
  const auto perhaps = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  Json last = nullptr, failure = nullptr, coordinator = nullptr;
  if (const auto& one = sight.snapshot) {
    last = {{"snapshot", one->number},
            {"age_ms", one->age_ms},
            {"bytes", one->bytes},
            {"took_ms", one->took_ms}};
  }
  if (const auto& one = sight.failure) {
    failure = {{"age_ms", one->age_ms},
               {"who", one->who},
               {"replicas", one->replicas},
               {"others", one->others},
               {"how", one->how},
               {"cause", one->cause},
               {"noticed_after_ms", perhaps(one->noticed_after_ms)},
               {"running_after_ms", perhaps(one->running_after_ms)},
               {"snapshot", perhaps(one->snapshot)},
               {"items_redone", one->items_redone},
               {"text", explained(*one)}};
  }
  if (const auto& one = sight.coordinator) {
    coordinator = {{"host", one->host}, {"pid", one->pid}, {"for_ms", one->for_ms}};
  }
  return {{"known", true},
          {"seen_ago_ms", ago_ms(sight.told_ms, now_ms)},
          {"phase", sight.phase},
          {"items_in_per_second", sight.items_in_per_second},
          {"items_out_per_second", sight.items_out_per_second},
          {"items", sight.items},
          {"read", perhaps(sight.read)},
          {"queued", sight.queued},
          {"bottleneck", sight.bottleneck},
          {"replicas", sight.replicas},
          {"workers", sight.workers},
          {"snapshots",
           {{"taken", sight.snapshots_taken},
            {"failed", sight.snapshots_failed},
            {"last", std::move(last)}}},
          {"failures", sight.failures},
          {"recoveries", sight.recoveries},
          {"items_redone", sight.items_redone},
          {"failure", std::move(failure)},
          {"coordinator", std::move(coordinator)}};
}

std::string stream_header() {
  return row({{"STREAM", 6},
              {"PHASE", -10},
              {"IN/S", 6},
              {"OUT/S", 6},
              {"QUEUED", 6},
              {"READ", 5},
              {"REPLICAS", 8},
              {"WORKERS", 7},
              {"FAILED", 6},
              {"COORDINATOR", -20},
              {"SNAPSHOT", -1}});
}

std::string line_of(const StreamSight& told, std::uint64_t now_ms) {
  const StreamSight sight = as_of(told, now_ms);
  const std::string line = row({{std::to_string(sight.attempt.job), 6},
                                {terminal_text(sight.phase), -10},
                                {count_text(sight.items_in_per_second), 6},
                                {count_text(sight.items_out_per_second), 6},
                                {std::to_string(sight.queued), 6},
                                {sight.read ? percent_text(*sight.read) : "-", 5},
                                {std::to_string(sight.replicas), 8},
                                {std::to_string(sight.workers), 7},
                                {std::to_string(sight.failures), 6},
                                {terminal_text(coordinator_text(sight)), -20},
                                {snapshot_text(sight), -1}});
  if (!sight.failure) return line;
  return concat(line, "\n        ", terminal_text(failure_text(sight)));
}

std::vector<std::string> lines_of(const StreamSight& told, std::uint64_t now_ms) {
  const StreamSight sight = as_of(told, now_ms);
  std::vector<std::string> lines;
  const auto say = [&lines](const char* name, const std::string& words) {
    lines.push_back(row({{name, -13}, {terminal_text(words), -1}}));
  };
  say("stream", concat(sight.phase, ", seen ", time_text(ago_ms(sight.told_ms, now_ms)), " ago"));
  say("items",
      concat(count_text(sight.items_in_per_second), "/s from the sources, ",
             count_text(sight.items_out_per_second), "/s into the sinks; ", sight.items, " so far",
             sight.read ? concat(", ", percent_text(*sight.read), " of the input") : ""));
  say("backlog", concat(sight.queued, sight.queued == 1 ? " packet waits" : " packets wait",
                        sight.bottleneck.empty() ? "" : "; ", sight.bottleneck));
  say("replicas", concat(sight.replicas, " in ", sight.workers,
                         sight.workers == 1 ? " process" : " processes"));
  say("snapshots", concat(sight.snapshots_taken, " taken, ", sight.snapshots_failed,
                          " failed; the newest: ", snapshot_text(sight)));
  say("failures",
      concat(sight.failures, "; ", sight.recoveries, sight.recoveries == 1 ? " return" : " returns",
             " to a snapshot, ", sight.items_redone, sight.items_redone == 1 ? " item" : " items",
             " done again"));
  if (sight.failure) say("", failure_text(sight));
  say("coordinator", sight.coordinator ? concat("process ", sight.coordinator->pid, " on ",
                                                coordinator_text(sight))
                                       : "unknown");
  return lines;
}

}  // namespace piracema::tools
