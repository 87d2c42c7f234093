#include "cluster/coordinator_job.h"

#include <utility>

#include "base/text.h"
#include "run/control.h"

namespace piracema::cluster {

Result<Job> Job::make(const std::string& graph, std::uint32_t slots,
                      const std::vector<Slot>& placement) {
  auto shape = runtime::decode_shape(graph);
  if (!shape) return shape.error();
  Job job;
  job.graph = graph;
  job.shape = *std::move(shape);
  job.plan = flow::make_plan(job.shape);
  job.placement = placement.empty() ? flow::place(job.shape, job.plan, slots) : placement;
  if (job.placement.size() != job.plan.replicas.size()) {
    return Error{Errc::config, concat("the program has ", job.plan.replicas.size(),
                                      " replicas now; when it was asked for its groups it had ",
                                      placement.size())};
  }
  return job;
}

std::vector<ReplicaId> Job::sinks() const {
  std::vector<ReplicaId> found;
  for (ReplicaId replica = 0; replica < replicas(); ++replica) {
    if (is_sink(role(replica))) found.push_back(replica);
  }
  return found;
}

std::string Job::name(ReplicaId replica) const {
  return flow::replica_name(shape, plan.replicas[replica]);
}

std::string Job::names_on(Slot slot) const {
  std::string names;
  for (ReplicaId replica = 0; replica < replicas(); ++replica) {
    if (placement[replica] != slot) continue;
    if (!names.empty()) names += ", ";
    names += name(replica);
  }
  return names;
}

std::map<Slot, std::vector<ReplicaId>> Job::by_slot(const std::vector<ReplicaId>& all) const {
  std::map<Slot, std::vector<ReplicaId>> slots;
  for (const ReplicaId replica : all) slots[placement[replica]].push_back(replica);
  return slots;
}

}  // namespace piracema::cluster
