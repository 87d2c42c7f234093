#include "cluster/operators/running_plan.h"

#include <mutex>

namespace piracema::operators::detail {

namespace {

std::mutex plan_mutex;
utility::ExecutionPlan plan;

}  // namespace

void set_running_plan(const GraphShape& shape) {
  std::lock_guard lock(plan_mutex);
  plan.stages.clear();
  for (const NodeShape& node : shape.nodes) {
    plan.stages.push_back({node.name, static_cast<int>(node.replicas), node.ordered});
  }
}

utility::ExecutionPlan running_plan() {
  std::lock_guard lock(plan_mutex);
  return plan;
}

}  // namespace piracema::operators::detail
