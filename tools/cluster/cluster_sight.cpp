#include "tools/cluster/cluster_sight.h"

#include <algorithm>
#include <utility>

#include "tools/cluster/events.h"
#include "tools/cluster/stream_view.h"
#include "tools/cluster/view.h"

namespace piracema::tools {

namespace {

constexpr std::size_t events_shown = 100;

}  // namespace

bool is_lost(const jobs::Node& node) { return !node.alive && node.incarnation != 0; }

bool ClusterSight::is_well() const {
  return trouble.empty() && group.here >= group.replicas.size() &&
         std::none_of(nodes.begin(), nodes.end(), is_lost);
}

const jobs::StreamSight* ClusterSight::stream_of(const jobs::Job& job) const {
  const auto found = streams.find(job.id);
  return found == streams.end() ? nullptr : &found->second;
}

bool ClusterSight::knows_stream_of(const jobs::Job& job) const {
  return !why_unknown(job, stream_of(job), now_ms);
}

nlohmann::ordered_json job_json(const ClusterSight& sight, const jobs::Job& job) {
  auto object = json_of(job, sight.now_ms);
  if (runs(job)) object["stream"] = stream_json(job, sight.stream_of(job), sight.now_ms);
  return object;
}

nlohmann::ordered_json json_of(const ClusterSight& sight, JobsShown shown) {
  nlohmann::ordered_json object;
  object["goes_on"] = sight.group.leader.has_value();
  object["wanted"] = sight.group.wanted;
  object["here"] = sight.group.here;
  object["replicas"] = nlohmann::ordered_json::array();
  for (const smr::ReplicaStatus& one : sight.group.replicas) {
    nlohmann::ordered_json replica{{"id", one.id}, {"address", one.address}};
    if (one.trouble.empty()) {
      replica["leads"] = sight.group.leader == one.id;
      replica["decided"] = one.decided;
      replica["silent"] = one.silent;
    } else {
      replica["trouble"] = one.trouble;
    }
    object["replicas"].push_back(std::move(replica));
  }
  if (!sight.trouble.empty()) object["trouble"] = sight.trouble;
  object["nodes"] = nlohmann::ordered_json::array();
  for (const jobs::Node& node : sight.nodes) object["nodes"].push_back(json_of(node, sight.now_ms));
  object["jobs"] = nlohmann::ordered_json::array();
  for (const jobs::Job& job : sight.jobs) {
    if (shown == JobsShown::open && is_over(job.state)) continue;
    object["jobs"].push_back(job_json(sight, job));
  }
  object["users"] = nlohmann::ordered_json::array();
  for (const jobs::User& user : sight.users) object["users"].push_back(json_of(user));
  object["events"] = nlohmann::ordered_json::array();
  for (const jobs::Event& event : sight.events) {
    object["events"].push_back(json_of(event, sight.now_ms));
  }
  return object;
}

ClusterWatcher::ClusterWatcher(smr::Configuration configuration, UserHome user,
                               ClusterClient client, std::chrono::milliseconds timeout)
    : configuration_(std::move(configuration)),
      user_(std::move(user)),
      client_(std::move(client)),
      timeout_(timeout) {}

Result<ClusterWatcher> ClusterWatcher::open(const std::string& directory,
                                            std::chrono::milliseconds timeout) {
  // It says what is wrong with the directory.
  auto client = ClusterClient::open(directory, timeout);
  if (!client) return client.error();
  auto configuration = smr::read_configuration(directory + "/cluster.toml");
  if (!configuration) return configuration.error();
  auto user = UserHome::read(directory);
  if (!user) return user.error();
  return ClusterWatcher(*std::move(configuration), *std::move(user), *std::move(client), timeout);
}

Result<ClusterSight> ClusterWatcher::look(Looked looked) {
  auto group = smr::ask_status(
      configuration_, {.client = user_.client, .key_file = user_.key_file, .timeout = timeout_});
  if (!group) return group.error();
  ClusterSight seen;
  seen.group = *std::move(group);
  if (seen.group.leader) {
    ask_all(seen, looked);
  } else {
    seen.trouble = "nothing is known of nodes and jobs while the control plane does not go on";
  }
  return seen;
}

std::optional<jobs::Answer> ClusterWatcher::ask(ClusterSight& seen,
                                                const jobs::Operation& question) {
  if (!seen.trouble.empty()) return std::nullopt;
  auto answer = client_.ask(question);
  if (answer) return *std::move(answer);
  seen.trouble = answer.error().message;
  return std::nullopt;
}

void ClusterWatcher::ask_all(ClusterSight& seen, Looked looked) {
  if (auto nodes = ask(seen, jobs::ListNodes{})) seen.nodes = std::move(nodes->nodes);
  if (looked == Looked::all) {
    if (auto users = ask(seen, jobs::ListUsers{})) seen.users = std::move(users->users);
    while (true) {
      const std::uint64_t from = events_.empty() ? 0 : events_.back().number + 1;
      auto some = ask(seen, jobs::ListEvents{from});
      if (!some) break;
      for (jobs::Event& event : some->events) events_.push_back(std::move(event));
      if (some->next == 0) break;
    }
    if (events_.size() > events_shown) {
      events_.erase(events_.begin(), events_.end() - static_cast<std::ptrdiff_t>(events_shown));
    }
    seen.events = events_;
  }
  for (jobs::JobId from = 0;;) {
    if (!seen.trouble.empty()) break;
    // A control plane that has to order it has no answer: streams are unknown then, and no more.
    auto some = client_.ask(jobs::ListStreams{from});
    if (!some) {
      if (some.error().code != Errc::refused) seen.trouble = some.error().message;
      break;
    }
    for (jobs::StreamSight& one : some->streams) {
      const jobs::JobId job = one.attempt.job;
      seen.streams[job] = jobs::bounded(std::move(one));
    }
    from = some->next;
    if (from == 0) break;
  }
  for (jobs::JobId from = 0;;) {
    auto some = ask(seen, jobs::ListJobs{from});
    if (!some) break;
    seen.now_ms = some->now_ms;
    for (jobs::Job& job : some->jobs) seen.jobs.push_back(std::move(job));
    from = some->next;
    if (from == 0) break;
  }
}

}  // namespace piracema::tools
