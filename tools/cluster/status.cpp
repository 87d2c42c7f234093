#include "tools/cluster/status.h"

#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>

#include "base/parse.h"
#include "base/text.h"
#include "tools/cluster/client.h"
#include "tools/cluster/stream_view.h"
#include "tools/cluster/view.h"
#include "tools/failure.h"
#include "tools/terminal_text.h"

namespace piracema::tools {

namespace {

constexpr int look_every_ms = 1'000;
constexpr const char* from_the_top = "\x1b[H\x1b[2J";

/// "3 here, 1 lost".
template <class Things, class StateOf>
std::string counts_of(const Things& things, const StateOf& state) {
  std::map<std::string, std::size_t> counts;
  for (const auto& thing : things) counts[state(thing)] += 1;
  std::string text;
  for (const auto& [name, count] : counts)
    text += concat(text.empty() ? "" : ", ", count, " ", name);
  return text.empty() ? "none" : text;
}

std::string line_of(const smr::ReplicaStatus& one) {
  if (!one.trouble.empty()) return concat("  ", one.address, " does not answer: ", one.trouble);
  if (!one.is_member) return concat("  ", one.address, " is no member");
  if (one.silent) {
    return concat("  ", one.address, " has lost what it had promised, and is catching up");
  }
  return "";
}

/// What the states of those mean that do not simply run jobs, once each.
void explain_nodes(const std::vector<jobs::Node>& nodes) {
  std::map<std::string, const char*> meanings;
  for (const jobs::Node& node : nodes) meanings[state_of(node)] = explained(node);
  meanings.erase("here");
  for (const auto& [state, text] : meanings) std::printf("%s: %s\n", state.c_str(), text);
}

void show_streams(const ClusterSight& seen) {
  // Most have the same reason.
  std::map<std::string, std::vector<jobs::JobId>> unknown;
  bool first = true;
  for (const jobs::Job& job : seen.jobs) {
    if (!runs(job)) continue;
    const jobs::StreamSight* const sight = seen.stream_of(job);
    if (auto why = why_unknown(job, sight, seen.now_ms)) {
      unknown[*why].push_back(job.id);
      continue;
    }
    if (std::exchange(first, false)) std::printf("\n%s\n", stream_header().c_str());
    std::printf("%s\n", tools::line_of(*sight, seen.now_ms).c_str());
  }
  constexpr std::size_t numbers_max = 5;
  for (const auto& [why, ids] : unknown) {
    std::string numbers;
    for (std::size_t i = 0; i < ids.size() && i < numbers_max; ++i) {
      numbers += concat(i == 0 ? "" : ", ", ids[i]);
    }
    if (ids.size() > numbers_max) numbers += concat(" and ", ids.size() - numbers_max, " more");
    std::printf("%sno stream is seen of job %s: %s\n", std::exchange(first, false) ? "\n" : "",
                numbers.c_str(), terminal_text(why).c_str());
  }
}

}  // namespace

ClusterStatus::ClusterStatus(CLI::App& cluster, const std::string& footer) {
  status_ =
      cluster.add_subcommand("status", "The control plane, nodes, jobs and streams, at a glance");
  add_cluster_options(*status_, directory_, timeout_);
  status_->add_flag("--watch", watch_, "Again every second, until Ctrl-C");
  status_->add_flag("--json", json_, "One JSON object");
  status_->add_option("JOB", job_, "All that is known of this one, and of the stream that it runs");
  status_->footer(
      concat("Ends with 1 if the control plane does not go on, one of its replicas does not\n"
             "take part, or a node is not heard of; of a job if there is none.\n\n",
             footer));
}

void ClusterStatus::show(const ClusterSight& seen) const {
  const smr::GroupStatus& group = seen.group;
  const auto leads = std::find_if(group.replicas.begin(), group.replicas.end(),
                                  [&](const auto& one) { return one.id == group.leader; });
  std::printf("control plane  %s; %zu of %zu replicas take part, %zu have to\n",
              leads == group.replicas.end() ? "does not go on"
                                            : concat("goes on, led from ", leads->address).c_str(),
              group.here, group.replicas.size(), group.wanted);
  for (const smr::ReplicaStatus& one : group.replicas) {
    if (const std::string line = line_of(one); !line.empty()) std::printf("%s\n", line.c_str());
  }
  if (!seen.trouble.empty()) return static_cast<void>(std::printf("%s\n", seen.trouble.c_str()));
  std::printf("nodes          %s\n",
              counts_of(seen.nodes, [](const auto& node) { return state_of(node); }).c_str());
  std::printf("jobs           %s\n",
              counts_of(seen.jobs, [](const auto& job) { return name_of(job); }).c_str());
  if (!seen.nodes.empty()) std::printf("\n%s\n", node_header().c_str());
  for (const jobs::Node& node : seen.nodes) {
    std::printf("%s\n", tools::line_of(node, seen.now_ms).c_str());
  }
  explain_nodes(seen.nodes);
  bool first = true;
  for (const jobs::Job& job : seen.jobs) {
    if (is_over(job.state)) continue;
    if (std::exchange(first, false)) std::printf("\n%s\n", job_header().c_str());
    std::printf("%s\n", tools::line_of(job, seen.now_ms).c_str());
  }
  show_streams(seen);
}

int ClusterStatus::tell(const ClusterSight& seen) const {
  if (job_) return tell_job(seen);
  json_ ? print(json_of(seen, JobsShown::open)) : show(seen);
  return seen.is_well() ? 0 : 1;
}

int ClusterStatus::tell_job(const ClusterSight& seen) const {
  if (!seen.trouble.empty()) return fail_asked({Errc::timeout, seen.trouble});
  const auto job = std::find_if(seen.jobs.begin(), seen.jobs.end(),
                                [this](const jobs::Job& one) { return one.id == *job_; });
  if (job == seen.jobs.end()) {
    return fail_asked({Errc::refused, concat("there is no job ", *job_)});
  }
  if (json_) {
    print(job_json(seen, *job));
    return 0;
  }
  std::printf("%s\n%s\n%s: %s\n", job_header().c_str(), tools::line_of(*job, seen.now_ms).c_str(),
              name_of(*job), explained(*job));
  if (!runs(*job)) return 0;
  const jobs::StreamSight* const sight = seen.stream_of(*job);
  if (const auto why = why_unknown(*job, sight, seen.now_ms)) {
    std::printf("no stream is seen of it: %s\n", terminal_text(*why).c_str());
    return 0;
  }
  std::printf("\n");
  for (const std::string& line : lines_of(*sight, seen.now_ms)) std::printf("%s\n", line.c_str());
  return 0;
}

int ClusterStatus::run() const {
  const auto timeout = parse_duration(timeout_);
  if (!timeout) return fail_asked({Errc::usage, "--timeout: " + timeout.error().message});
  auto watcher = ClusterWatcher::open(directory_, *timeout);
  if (!watcher) return fail_asked(watcher.error());
  while (true) {
    const auto seen = watcher->look(json_ && !job_ ? Looked::all : Looked::nodes_and_jobs);
    if (!seen) return fail_asked(seen.error());
    if (watch_ && !json_ && ::isatty(STDOUT_FILENO) != 0) std::fputs(from_the_top, stdout);
    const int code = tell(*seen);
    std::fflush(stdout);
    if (!watch_) return code;
    ::poll(nullptr, 0, look_every_ms);
  }
}

}  // namespace piracema::tools
