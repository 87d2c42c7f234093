#include "control/coordinator/restart_policy.h"

#include <algorithm>

#include "base/text.h"

namespace piracema::cluster {

using Verdict = RestartPolicy::Verdict;

Verdict RestartPolicy::failed(const Job& job, ReplicaId replica, std::optional<std::uint64_t> item,
                              const std::string& why) {
  journal_.decide(FailureCounted{{{job.plan.replicas[replica].node, replica, item}}, true});
  return judge(job, why);
}

// Sources come last: they run ahead of the item that did it.
Verdict RestartPolicy::process_failed(
    const Job& job, Slot slot, const std::vector<std::pair<ReplicaId, std::uint64_t>>& at_work,
    RestartBudget::Blame blame, const std::string& why) {
  std::vector<Suspect> suspects;
  for (const auto& [replica, item] : at_work) {
    if (!job.hosts(slot, replica)) continue;
    suspects.push_back({job.plan.replicas[replica].node, replica, item});
  }
  if (suspects.empty()) return std::nullopt;
  std::stable_partition(suspects.begin(), suspects.end(),
                        [&](const Suspect& one) { return !is_source(job.role(one.replica)); });
  journal_.decide(FailureCounted{std::move(suspects), blame == RestartBudget::Blame::certain});
  return judge(job, why);
}

Verdict RestartPolicy::judge(const Job& job, const std::string& why) {
  const auto culprit = journal_.metadata().budget.culprit();
  if (!culprit) return std::nullopt;
  if (journal_.settings().dead_letters && culprit->item) {
    journal_.decide(ItemBanned{*culprit});
    journal_.tell(ItemSkipped{culprit->node, *culprit->item});
    return std::nullopt;
  }
  const std::string where = culprit->item ? concat(" at or near item ", *culprit->item) : "";
  const char* advice = culprit->item ? "; with a dead-letter file it would be passed by" : "";
  return Finish{1, concat(job.name(culprit->replica), " failed ",
                          journal_.settings().restart_budget, " times", where, ": ", why, advice)};
}

Verdict RestartPolicy::not_started(const std::string& who, std::uint32_t times) const {
  if (times <= journal_.settings().fruitless_recoveries_max) return std::nullopt;
  return Finish{4, concat(who, " could not be started ", times, " times in a row")};
}

Verdict RestartPolicy::fruitless(const std::string& why) const {
  const std::uint32_t epochs = journal_.metadata().fruitless;
  if (epochs < journal_.settings().fruitless_recoveries_max) return std::nullopt;
  return Finish{4, concat("given up after ", epochs,
                          " recoveries in a row without an item or a snapshot; the last: ", why)};
}

}  // namespace piracema::cluster
