#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "jobs/protocol/job.h"

namespace piracema::jobs {

/// Which jobs have something on a node: made of the jobs, so that what a node says need not be held
/// against all of them.
class JobsByNode {
 public:
  /// Jobs have got nodes, or lost them.
  void learn(const std::map<JobId, Job>& jobs);
  /// In their order: all that were given the node, have a part there or are asked for one there,
  /// when that was learnt last.
  const std::vector<JobId>& on(const std::string& node) const;

 private:
  std::unordered_map<std::string, std::vector<JobId>> jobs_;
};

}  // namespace piracema::jobs
