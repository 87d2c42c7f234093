#pragma once

#include <CLI/App.hpp>
#include <chrono>
#include <string>

#include "base/fd.h"
#include "tools/cluster/client.h"

namespace piracema::tools {

/// `piracema cluster admit` and `dismiss`: nodes come to a cluster and leave it for good, while it
/// runs. The directory of the cluster has what both want: administrator.key and user.key.
class ClusterMembership {
 public:
  ClusterMembership(CLI::App& cluster, const std::string& footer);

  bool parsed() const { return admit_->parsed() || dismiss_->parsed(); }
  /// The exit code.
  int run();

 private:
  CLI::App* add(CLI::App& cluster, const char* name, const char* help);
  Result<Done> admit(ClusterClient& client) const;
  Result<Done> dismiss(ClusterClient& client) const;
  /// As long as its lease lasts.
  Result<Done> wait_until_lost(ClusterClient& client, const std::string& node) const;

  CLI::App *admit_, *dismiss_;
  std::string directory_, node_, timeout_text_ = "10s";
  std::chrono::milliseconds timeout_{};
  bool now_ = false;
};

}  // namespace piracema::tools
