#include "jobs/state/jobs_by_node.h"

namespace piracema::jobs {

void JobsByNode::learn(const std::map<JobId, Job>& jobs) {
  jobs_.clear();
  for (const auto& [id, job] : jobs) {
    if (job.state == JobState::waiting || is_over(job.state)) continue;
    const auto has = [&, id = id](const std::string& node) {
      auto& known = jobs_[node];
      if (known.empty() || known.back() != id) known.push_back(id);
    };
    has(job.node);
    for (const std::string& other : job.others) has(other);
    for (const auto& [number, part] : job.parts) {
      has(part.node);
      if (!part.asker.empty()) has(part.asker);
    }
  }
}

const std::vector<JobId>& JobsByNode::on(const std::string& node) const {
  static const std::vector<JobId> none;
  const auto found = jobs_.find(node);
  return found == jobs_.end() ? none : found->second;
}

}  // namespace piracema::jobs
