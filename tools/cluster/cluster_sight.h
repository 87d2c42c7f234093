#pragma once

#include <piracema/error.h>
#include <piracema/smr/configuration.h>
#include <piracema/smr/status.h>

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "jobs/operations.h"
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
  std::vector<jobs::User> users;
  /// The last ones.
  std::vector<jobs::Event> events;
  /// The group's clock.
  std::uint64_t now_ms = 0;

  /// The control plane goes on with all of its replicas, and no node is lost.
  bool is_well() const;
};
/// It was not heard of, and nobody wanted it so.
bool is_lost(const jobs::Node& node);

enum class JobsShown { open, all };
nlohmann::ordered_json json_of(const ClusterSight& sight, JobsShown jobs);

/// Looks at a cluster again and again, as one of its users. One thread.
class ClusterWatcher {
 public:
  /// Errors of ClusterClient::open.
  static Result<ClusterWatcher> open(const std::string& directory,
                                     std::chrono::milliseconds timeout);
  /// A control plane that does not answer is no error, and is seen as one. Errc::config, and the
  /// errors of the key file.
  Result<ClusterSight> look();
  const UserHome& user() const { return user_; }

 private:
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
