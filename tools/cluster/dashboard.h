#pragma once

#include <CLI/App.hpp>
#include <string>

namespace piracema::tools {

/// `piracema cluster dashboard`: shows a cluster by HTTP, as one of its users sees it.
class ClusterDashboard {
 public:
  ClusterDashboard(CLI::App& cluster, const std::string& footer);

  bool parsed() const { return dashboard_->parsed(); }
  /// Until SIGTERM or Ctrl-C; the exit code.
  int run() const;

 private:
  CLI::App* dashboard_;
  std::string directory_, timeout_ = "3s", address_, token_file_;
};

}  // namespace piracema::tools
