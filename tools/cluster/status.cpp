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
#include "tools/cluster/view.h"
#include "tools/failure.h"

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

}  // namespace

ClusterStatus::ClusterStatus(CLI::App& cluster, const std::string& footer) {
  status_ =
      cluster.add_subcommand("status", "The control plane, the nodes and the jobs, at a glance");
  add_cluster_options(*status_, directory_, timeout_);
  status_->add_flag("--watch", watch_, "Again every second, until Ctrl-C");
  status_->add_flag("--json", json_, "One JSON object");
  status_->footer(
      concat("Ends with 1 if the control plane does not go on, one of its replicas does not\n"
             "take part, or a node is not heard of.\n\n",
             footer));
}

void ClusterStatus::show(const ClusterSight& seen) {
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
              counts_of(seen.jobs, [](const auto& job) { return name_of(job.state); }).c_str());
  if (!seen.nodes.empty()) std::printf("\n%s\n", node_header().c_str());
  for (const jobs::Node& node : seen.nodes) {
    std::printf("%s\n", tools::line_of(node, seen.now_ms).c_str());
  }
  bool first = true;
  for (const jobs::Job& job : seen.jobs) {
    if (is_over(job.state)) continue;
    if (std::exchange(first, false)) std::printf("\n%s\n", job_header().c_str());
    std::printf("%s\n", tools::line_of(job, seen.now_ms).c_str());
  }
}

int ClusterStatus::run() const {
  const auto timeout = parse_duration(timeout_);
  if (!timeout) return fail_asked({Errc::usage, "--timeout: " + timeout.error().message});
  auto watcher = ClusterWatcher::open(directory_, *timeout);
  if (!watcher) return fail_asked(watcher.error());
  while (true) {
    const auto seen = watcher->look();
    if (!seen) return fail_asked(seen.error());
    if (watch_ && !json_ && ::isatty(STDOUT_FILENO) != 0) std::fputs(from_the_top, stdout);
    json_ ? print(json_of(*seen, JobsShown::open)) : show(*seen);
    std::fflush(stdout);
    if (!watch_) return seen->is_well() ? 0 : 1;
    ::poll(nullptr, 0, look_every_ms);
  }
}

}  // namespace piracema::tools
