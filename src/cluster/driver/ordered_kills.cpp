#include "cluster/driver/ordered_kills.h"

#include <optional>
#include <string>

#include "base/text.h"

namespace piracema::cluster {

namespace {

std::optional<ReplicaId> find_replica(const Job& job, const KillOrder& order) {
  for (ReplicaId replica = 0; replica < job.replicas(); ++replica) {
    const flow::ReplicaPlan& plan = job.plan.replicas[replica];
    if (job.shape.nodes[plan.node].name == order.node && plan.index == order.replica) {
      return replica;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<Done> check_kills(const std::vector<KillOrder>& orders, const Job& job) {
  for (const KillOrder& order : orders) {
    if (find_replica(job, order)) continue;
    std::string nodes;
    for (const NodeShape& node : job.shape.nodes) {
      nodes += concat(nodes.empty() ? "" : ", ", node.name, " (", node.replicas, ")");
    }
    return Error{Errc::config, concat("kill: there is no replica ", order.replica, " of '",
                                      order.node, "'; nodes and their replicas are ", nodes)};
  }
  return Done{};
}

std::vector<DueKill> kills_due(JobReport& report, const Job& job) {
  std::vector<DueKill> due;
  for (KillReport& kill : report.kills) {
    if (kill.killed_at || report.read < kill.order.at) continue;
    const auto replica = find_replica(job, kill.order);
    if (!replica) continue;
    kill.slot = job.placement[*replica];
    due.push_back({&kill, *replica});
  }
  return due;
}

}  // namespace piracema::cluster
