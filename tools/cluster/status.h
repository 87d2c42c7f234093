#pragma once

#include <piracema/smr/status.h>

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "jobs/operations.h"

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
  struct Seen {
    smr::GroupStatus group;
    /// Why nothing is known of nodes and jobs; empty if it is.
    std::string trouble;
    std::vector<jobs::Node> nodes;
    std::vector<jobs::Job> jobs;
    std::uint64_t now_ms = 0;
  };
  Result<Seen> look() const;
  void show(const Seen& seen) const;
  void show_json(const Seen& seen) const;

  CLI::App* status_;
  std::string directory_, timeout_ = "3s";
  bool json_ = false, watch_ = false;
};

}  // namespace piracema::tools
