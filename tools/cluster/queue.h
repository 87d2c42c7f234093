#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jobs/protocol/operations.h"
#include "tools/cluster/client.h"
#include "tools/cluster/submission.h"

namespace piracema::tools {

/// What users ask of a cluster: submit, jobs, logs, wait, cancel, nodes, drain.
class ClusterQueue {
 public:
  /// Adds its commands to `piracema cluster`.
  ClusterQueue(CLI::App& cluster, const std::string& footer);

  /// One of its commands was given.
  bool parsed() const;
  /// The exit code.
  int run();

 private:
  CLI::App* add(CLI::App& cluster, const char* name, const char* help);
  int submit();
  int list_jobs();
  int list_nodes();
  int logs();
  int follow(jobs::JobId id, bool prints_output);
  int cancel();
  int drain();

  std::vector<CLI::App*> commands_;
  CLI::App *submit_, *jobs_, *logs_, *wait_, *cancel_, *nodes_, *drain_;
  std::string directory_, timeout_ = "10s";
  bool json_ = false;
  std::unique_ptr<Submission> submission_;
  std::vector<std::uint64_t> ids_;
  std::string node_;
  bool wait_for_it_ = false, follow_ = false, all_ = false, off_ = false;
  std::optional<ClusterClient> client_;
};

}  // namespace piracema::tools
