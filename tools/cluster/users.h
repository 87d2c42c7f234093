#pragma once

#include <CLI/App.hpp>
#include <chrono>
#include <optional>
#include <string>

#include "tools/cluster/client.h"

namespace piracema::tools {

/// `piracema cluster add-user`, `change-user`, `remove-user` and `users`: who may ask a cluster for
/// what, and as which account the jobs run.
class ClusterUsers {
 public:
  ClusterUsers(CLI::App& cluster, const std::string& footer);

  bool parsed() const;
  /// The exit code.
  int run();

 private:
  Result<Done> add_user(ClusterClient& client) const;
  Result<Done> change_user(ClusterClient& client) const;
  Result<Done> remove_user(ClusterClient& client) const;
  Result<Done> list(ClusterClient& client) const;

  CLI::App *add_, *change_, *remove_, *list_;
  std::string directory_, name_, timeout_text_ = "10s";
  std::optional<std::string> role_, account_;
  std::chrono::milliseconds timeout_{};
  bool json_ = false;
};

}  // namespace piracema::tools
