#pragma once

#include <CLI/App.hpp>
#include <string>

#include "tools/cluster/cluster_sight.h"

namespace piracema::tools {

/// `piracema cluster status`: the control plane, the nodes and the jobs, at a glance.
class ClusterStatus {
 public:
  /// Adds its command to `piracema cluster`.
  ClusterStatus(CLI::App& cluster, const std::string& footer);

  bool parsed() const { return status_->parsed(); }
  /// The exit code: 0 if the control plane goes on and every node is as somebody wants it.
  int run() const;

 private:
  static void show(const ClusterSight& seen);

  CLI::App* status_;
  std::string directory_, timeout_ = "3s";
  bool json_ = false, watch_ = false;
};

}  // namespace piracema::tools
