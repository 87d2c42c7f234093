#pragma once

#include <piracema/error.h>
#include <piracema/smr/configuration.h>
#include <piracema/smr/status.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "jobs/protocol/operations.h"
#include "tools/cluster/client.h"
#include "tools/cluster/user_home.h"

namespace piracema::tools {

/// What one look at a cluster has seen.
struct ClusterSight {
  smr::GroupStatus group;
  /// Why nothing is known of nodes, jobs and users; empty if it is.
  std::string trouble;
  std::vector<jobs::Node> nodes;
  std::vector<jobs::Job> jobs;
  /// What nodes have told of the streams that run, by their jobs.
  std::map<jobs::JobId, jobs::StreamSight> streams;
  /// Only where all was looked at.
  std::vector<jobs::User> users;
  /// The last ones.
  std::vector<jobs::Event> events;
  /// The group's clock.
  std::uint64_t now_ms = 0;

  /// The control plane goes on with all of its replicas, and no node is lost.
  bool is_well() const;
  /// Null: nobody has told of one.
  const jobs::StreamSight* stream_of(const jobs::Job& job) const;
  /// It was told lately how the stream is.
  bool knows_stream_of(const jobs::Job& job) const;
};
/// It was not heard of, and nobody wanted it so.
bool is_lost(const jobs::Node& node);

/// Of a job of these; of one that runs with its stream.
nlohmann::ordered_json job_json(const ClusterSight& sight, const jobs::Job& job);

enum class JobsShown { open, all };
nlohmann::ordered_json json_of(const ClusterSight& sight, JobsShown jobs);

/// How much is asked for: without users and what has happened, or with them.
enum class Looked { nodes_and_jobs, all };

/// Looks at a cluster again and again, as one of its users. One thread.
class ClusterWatcher {
 public:
  /// Errors of ClusterClient::open.
  static Result<ClusterWatcher> open(const std::string& directory,
                                     std::chrono::milliseconds timeout);
  /// A control plane that does not answer is no error, and is seen as one. Errc::config, and the
  /// errors of the key file.
  Result<ClusterSight> look(Looked looked);
  const UserHome& user() const { return user_; }

 private:
  void ask_all(ClusterSight& seen, Looked looked);
  /// Nothing, and `seen` says why.
  std::optional<jobs::Answer> ask(ClusterSight& seen, const jobs::Operation& question);

  ClusterWatcher(smr::Configuration configuration, UserHome user, ClusterClient client,
                 std::chrono::milliseconds timeout);

  smr::Configuration configuration_;
  UserHome user_;
  ClusterClient client_;
  std::chrono::milliseconds timeout_;
  /// Those that were seen already need not be asked for.
  std::vector<jobs::Event> events_;
};

}  // namespace piracema::tools
