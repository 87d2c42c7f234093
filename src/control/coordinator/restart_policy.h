#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/coordinator/members/journal.h"
#include "control/coordinator_job.h"

namespace piracema::cluster {

/// What becomes of those who fail again and again: counts who may have done it, bans an item, or
/// says that the job has to end.
class RestartPolicy {
 public:
  explicit RestartPolicy(Journal& journal) : journal_(journal) {}

  /// How the job has to end, if so; else it is tried again.
  using Verdict = std::optional<Finish>;

  /// One replica has failed, at that item.
  Verdict failed(const Job& job, ReplicaId replica, std::optional<std::uint64_t> item,
                 const std::string& why);
  /// A process has; each replica that was at work may have brought it down.
  Verdict process_failed(const Job& job, Slot slot,
                         const std::vector<std::pair<ReplicaId, std::uint64_t>>& at_work,
                         RestartBudget::Blame blame, const std::string& why);
  /// A process has not joined so often; it is tried again unless this says why not.
  Verdict not_started(const std::string& who, std::uint32_t times) const;
  /// Another epoch has ended with nothing to show for it.
  Verdict fruitless(const std::string& why) const;

 private:
  Verdict judge(const Job& job, const std::string& why);

  Journal& journal_;
};

}  // namespace piracema::cluster
