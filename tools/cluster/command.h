#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/cluster/beside.h"
#include "tools/cluster/dashboard.h"
#include "tools/cluster/events.h"
#include "tools/cluster/membership.h"
#include "tools/cluster/queue.h"
#include "tools/cluster/remote.h"
#include "tools/cluster/status.h"
#include "tools/cluster/users.h"
#include "tools/lent_options.h"

namespace piracema::tools {

/// `piracema cluster`: nodes that run what they are asked to.
class ClusterCommand {
 public:
  explicit ClusterCommand(CLI::App& app);

  /// What was asked for; the exit code.
  int run();

 private:
  int init() const;
  int node() const;
  int replica() const;
  int start() const;

  CLI::App* cluster_;
  CLI::App *init_, *node_, *replica_, *start_;
  std::unique_ptr<ClusterQueue> queue_;
  std::unique_ptr<ClusterRemote> remote_;
  std::unique_ptr<ClusterBeside> beside_;
  std::unique_ptr<ClusterMembership> membership_;
  std::unique_ptr<ClusterUsers> users_;
  std::unique_ptr<ClusterStatus> status_;
  std::unique_ptr<ClusterDashboard> dashboard_;
  std::unique_ptr<ClusterEvents> events_;
  std::string directory_, home_, data_, address_, kind_, site_;
  std::vector<std::string> nodes_;
  LentOptions lent_;
  std::uint32_t count_ = 3, slots_;
  std::optional<int> niceness_;
};

}  // namespace piracema::tools
