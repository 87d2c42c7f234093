#pragma once

#include <piracema/smr/configuration.h>
#include <piracema/smr/groups.h>
#include <piracema/smr/state_machine.h>
#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smr/link/keys.h"
#include "smr/service/executor/thrift.h"

namespace piracema::bench {

/// Replicas as processes on loopback, and keys for clients.
/// Killed when it goes. To be made while the process has one thread.
class SmrCluster {
 public:
  struct Options {
    bool byzantine = false;
    bool durable = false;
    std::size_t clients = 1;
    /// For what is durable; a directory for each replica is made in it.
    std::string directory;
    /// Makes the service of each replica, in its process; empty for one that does nothing.
    std::function<std::unique_ptr<smr::StateMachine>()> machine = {};
    /// As in the configuration, in ReplicaOptions and in ReplicaNode::Place.
    std::uint32_t execution_threads = 0;
    std::optional<smr::ConflictGroups> groups = {};
    smr::Prices prices = {};
  };
  explicit SmrCluster(const Options& options);
  ~SmrCluster();
  SmrCluster(const SmrCluster&) = delete;
  SmrCluster& operator=(const SmrCluster&) = delete;

  const smr::Configuration& configuration() const { return configuration_; }
  /// Of client 1, 2 …
  static smr::KeyPair client_key(std::uint64_t id);
  const std::vector<pid_t>& pids() const { return pids_; }
  /// SIGKILL.
  void kill(std::size_t replica);
  /// Of all replicas, so far.
  double cpu() const;

 private:
  void start(std::uint32_t id);

  const Options options_;
  smr::Configuration configuration_;
  std::vector<pid_t> pids_;
};

}  // namespace piracema::bench
