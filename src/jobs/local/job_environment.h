#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/local/job_files.h"
#include "jobs/local/job_runner.h"
#include "os/account.h"

namespace piracema::jobs {

/// What the commands and parts of jobs find in their environment on one node.
class JobEnvironment {
 public:
  struct Node {
    std::string name;
    /// A remote shell, for jobs of several nodes.
    std::string rsh;
  };
  /// `files` outlives it.
  JobEnvironment(Node node, const JobFiles& files) : node_(std::move(node)), files_(files) {}

  /// Variables beside those of the node, or, if it runs as an account, all of them; one that is
  /// there twice counts as it is there last. `hostfile`: of what follows its nodes; else empty.
  std::vector<std::string> of(const JobRunner::Launch& launch,
                              const std::optional<cluster::Account>& account,
                              const std::string& hostfile) const;

 private:
  const Node node_;
  const JobFiles& files_;
};

}  // namespace piracema::jobs
