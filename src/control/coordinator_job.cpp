#include "control/coordinator_job.h"

#include <utility>

#include "base/text.h"
#include "control/messages/control.h"
#include "flow/placement.h"
#include "flow/states.h"

namespace piracema::cluster {

namespace {

Result<std::vector<Slot>> place(const Job& job, const JobSettings& settings) {
  if (!settings.placement.empty()) return settings.placement;
  const auto known = flow::known_of(job.shape, settings.earlier, settings.locations);
  if (!known) return known.error();
  return flow::place(job.shape, job.plan, settings.slots, *known);
}

}  // namespace

Result<Job> Job::make(const std::string& graph, const std::vector<std::uint64_t>& costs,
                      const JobSettings& settings, const std::vector<std::string>& layouts) {
  auto shape = runtime::decode_shape(graph);
  if (!shape) return shape.error();
  Job job;
  job.graph = graph;
  job.shape = *std::move(shape);
  if (!costs.empty()) {
    if (auto set = runtime::set_costs(job.shape, costs); !set) return set.error();
  }
  if (auto checked = flow::check_types(job.shape, {layouts}); !checked) return checked.error();
  job.layouts = layouts;
  job.plan = flow::make_plan(job.shape);
  auto placement = place(job, settings);
  if (!placement) return placement.error();
  job.placement = *std::move(placement);
  if (job.placement.size() != job.plan.replicas.size()) {
    return Error{Errc::config, concat("the program has ", job.plan.replicas.size(),
                                      " replicas now; when it was asked for its groups it had ",
                                      job.placement.size())};
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

std::map<std::string, std::string> Job::layouts_by_node() const {
  return flow::layouts_by_node(shape, layouts);
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
