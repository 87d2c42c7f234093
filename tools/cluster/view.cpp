#include "tools/cluster/view.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/text.h"
#include "forecast/window/lent_calendar.h"
#include "tools/cluster/columns.h"
#include "tools/terminal_text.h"

namespace piracema::tools {

using jobs::Job;
using jobs::JobState;

namespace {

std::string ago_text(std::uint64_t at_ms, std::uint64_t now_ms) {
  if (at_ms == 0) return "-";
  const std::uint64_t seconds = ago_ms(at_ms, now_ms) / 1'000;
  if (seconds < 120) return concat(seconds, "s");
  if (seconds < 120 * 60) return concat(seconds / 60, "m");
  if (seconds < 48 * 3'600) return concat(seconds / 3'600, "h");
  return concat(seconds / 86'400, "d");
}

/// Of one that is lent for a while: until when, or why not.
std::string lent_text(const jobs::Node& node, std::uint64_t now_ms) {
  if (!node.alive) return "";
  if (!node.lent.open) {
    using enum jobs::Kept;
    const char* kept = node.lent.kept == stands_still ? ": jobs stand still"
                       : node.lent.kept == goes_on    ? ": jobs that stood still go on"
                                                      : "";
    return concat("not lent ", node.lent.why, kept);
  }
  if (node.lent.closes_in_ms == 0) return "";
  const std::uint64_t left =
      node.lent.closes_in_ms - std::min(ago_ms(node.heard_ms, now_ms), node.lent.closes_in_ms);
  return concat("lent until ",
                ckpt::wall_text(now() + std::chrono::milliseconds(left), "%H:%M:%S"));
}

const char* explained(JobState state) {
  switch (state) {
    case JobState::waiting:
      return "it waits for a place";
    case JobState::running:
      return "its command has begun, or is about to, and has not ended";
    case JobState::leaving:
      return "it was asked to end, and has 30 s to do so";
    case JobState::ending:
      return "its command has ended, and parts of it on other nodes have yet to";
    case JobState::done:
      return "its command has ended with code 0";
    case JobState::failed:
      return "it has ended by itself, badly, and does not begin again";
    case JobState::cancelled:
      return "somebody did not want it any more";
  }
  return "";
}

std::uint64_t leaves_in_ms(const Job& job, std::uint64_t now_ms) {
  return job.leaves_ms - std::min(job.leaves_ms, now_ms);
}

/// Of its last end, what it waits for, or why it stands still.
std::string why_of(const Job& job, std::uint64_t now_ms) {
  if (!jobs::is_suspended(job)) return job.why;
  return concat("a user is at its machine: it goes on when he goes, or leaves in ",
                (leaves_in_ms(job, now_ms) + 999) / 1'000, " s");
}

}  // namespace

std::uint64_t ago_ms(std::uint64_t at_ms, std::uint64_t now_ms) {
  return now_ms - std::min(now_ms, at_ms);
}

const char* name_of(JobState state) {
  switch (state) {
    case JobState::waiting:
      return "waiting";
    case JobState::running:
      return "running";
    case JobState::leaving:
      return "leaving";
    case JobState::ending:
      return "ending";
    case JobState::done:
      return "done";
    case JobState::failed:
      return "failed";
    case JobState::cancelled:
      return "cancelled";
  }
  return "unknown";
}

const char* name_of(const Job& job) {
  return jobs::is_suspended(job) ? "suspended" : name_of(job.state);
}

const char* state_of(const jobs::Node& node) {
  if (!node.alive) return node.incarnation == 0 ? "left" : "not heard of";
  if (node.leaving) return "leaving";
  if (node.draining) return "draining";
  if (!node.lent.open) return "not lent";
  return node.full ? "full" : "here";
}

const char* explained(const Job& job) {
  return jobs::is_suspended(job) ? "a user is at its machine: it stands still for a while"
                                 : explained(job.state);
}

const char* explained(const jobs::Node& node) {
  if (!node.alive) {
    return node.incarnation == 0 ? "its process has ended in order: no jobs are there"
                                 : "no word of it for 5 s: its jobs begin elsewhere";
  }
  if (node.leaving) return "its process is about to end: its jobs go on elsewhere";
  if (node.draining) return "somebody wants it empty: its jobs go on elsewhere, none begin there";
  if (!node.lent.open) {
    return "its machine is its owner's now: none begin there until it is lent again";
  }
  return node.full ? "its home has no room: none begin there until it has, and what runs goes on"
                   : "it runs jobs";
}

nlohmann::ordered_json json_of(const Job& job, std::uint64_t now_ms) {
  nlohmann::ordered_json object{
      {"job", job.id},           {"name", job.spec.name},
      {"user", job.owner.user},  {"state", name_of(job)},
      {"means", explained(job)}, {"nodes", job.spec.nodes},
      {"slots", job.spec.slots}, {"command", job.spec.command},
      {"attempt", job.attempt},  {"failures", job.failures},
      {"losses", job.losses},    {"submitted_ago_ms", ago_ms(job.submitted_ms, now_ms)}};
  if (!job.node.empty()) object["node"] = job.node;
  if (!job.others.empty()) object["others"] = job.others;
  if (job.started_ms != 0) object["started_ago_ms"] = ago_ms(job.started_ms, now_ms);
  if (is_over(job.state)) {
    object["ended_ago_ms"] = ago_ms(job.ended_ms, now_ms);
    object["code"] = job.code;
  }
  if (jobs::is_suspended(job)) object["leaves_in_ms"] = leaves_in_ms(job, now_ms);
  if (const auto why = why_of(job, now_ms); !why.empty()) object["why"] = why;
  return object;
}

nlohmann::ordered_json json_of(const jobs::Node& node, std::uint64_t now_ms) {
  return {{"node", node.name},
          {"state", state_of(node)},
          {"means", explained(node)},
          {"slots", node.slots},
          {"address", node.address},
          {"kind", node.kind},
          {"site", node.site},
          {"used", node.used},
          {"heard_ago_ms", ago_ms(node.heard_ms, now_ms)},
          {"lent", lent_text(node, now_ms)},
          {"directory", node.directory}};
}

std::string job_header() {
  return row({{"JOB", 6},
              {"STATE", -9},
              {"NODE", -12},
              {"SLOTS", 5},
              {"FOR", -9},
              {"USER", -8},
              {"NAME", -1}});
}

std::string line_of(const Job& job, std::uint64_t now_ms) {
  const std::string where = job.node.empty()     ? "-"
                            : job.others.empty() ? job.node
                                                 : concat(job.node, " +", job.others.size());
  const std::uint64_t since = is_over(job.state)    ? job.ended_ms
                              : job.started_ms != 0 ? job.started_ms
                                                    : job.submitted_ms;
  const std::string why = job.state == JobState::done ? "" : why_of(job, now_ms);
  return row({{std::to_string(job.id), 6},
              {name_of(job), -9},
              {where, -12},
              {std::to_string(job.spec.slots), 5},
              {ago_text(since, now_ms), -9},
              {job.owner.user, -8},
              {terminal_text(concat(job.spec.name, why.empty() ? "" : ": ", why)), -1}});
}

std::string node_header() {
  return row({{"NODE", -16},
              {"STATE", -12},
              {"SLOTS", 5},
              {"USED", 5},
              {"HEARD AGO", -9},
              {"LENT, DIRECTORY", -1}});
}

std::string line_of(const jobs::Node& node, std::uint64_t now_ms) {
  const std::string lent = lent_text(node, now_ms);
  return row({{node.name, -16},
              {state_of(node), -12},
              {std::to_string(node.slots), 5},
              {std::to_string(node.used), 5},
              {ago_text(node.heard_ms, now_ms), -9},
              {terminal_text(concat(lent, lent.empty() ? "" : ", ", node.directory)), -1}});
}

nlohmann::ordered_json json_of(const jobs::User& user) {
  return {{"user", user.name}, {"role", name_of(user.role)}, {"account", user.account}};
}

std::string user_header() { return row({{"USER", -16}, {"ROLE", -12}, {"JOBS RUN AS", -1}}); }

std::string line_of(const jobs::User& user) {
  const std::string own = user.name == jobs::first_user ? "the nodes' own" : "the nodes', not root";
  return row({{user.name, -16},
              {name_of(user.role), -12},
              {user.account.empty() ? own : user.account, -1}});
}

void print(const nlohmann::ordered_json& json) {
  std::printf("%s\n", json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

}  // namespace piracema::tools
