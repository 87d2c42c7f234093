#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "tools/cluster/cluster_sight.h"

namespace piracema::tools {

/// `piracema cluster status`: the control plane, the nodes, the jobs and their streams at a glance,
/// or all that is known of one job.
class ClusterStatus {
 public:
  /// Adds its command to `piracema cluster`.
  ClusterStatus(CLI::App& cluster, const std::string& footer);

  bool parsed() const { return status_->parsed(); }
  /// The exit code: 0 if the control plane goes on and every node is as somebody wants it.
  int run() const;

 private:
  void show(const ClusterSight& seen) const;
  /// The exit code.
  int tell(const ClusterSight& seen) const;
  int tell_job(const ClusterSight& seen) const;

  CLI::App* status_;
  std::optional<std::uint64_t> job_;
  std::string directory_, timeout_ = "3s";
  bool json_ = false, watch_ = false;
};

}  // namespace piracema::tools
