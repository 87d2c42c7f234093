#include "forecast/leaving/job_leaving.h"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>

#include "base/log.h"
#include "forecast/dump/planner.h"
#include "forecast/store/store_record.h"
#include "os/process_tree.h"

namespace piracema::ckpt {

namespace {

// Its state is not known from outside; its memory is no less.
DumpFeatures features_of(const JobMemory& held, std::size_t others) {
  return {.bytes = static_cast<double>(held.resident),
          .swapped_bytes = static_cast<double>(held.swapped),
          .processes = static_cast<double>(std::max<std::uint64_t>(1, held.processes)),
          .writers = static_cast<double>(1 + others),
          .at = static_cast<double>(std::time(nullptr))};
}

}  // namespace

JobLeaving::JobLeaving(std::string place, double risk) : place_(std::move(place)), risk_(risk) {
  ::mkdir(place_.c_str(), 0700);
  const auto past = read_past_dumps(place_);
  if (past) {
    predictor_ = learn_from(*past);
  } else {
    log(Level::warning, past.error().message);
  }
}

JobLeaving::Takes JobLeaving::takes(const std::vector<pid_t>& pids, Time length) const {
  std::vector<JobMemory> jobs;
  for (const pid_t pid : pids) jobs.push_back(job_memory(pid));
  if (jobs.empty()) jobs.emplace_back();
  const double seconds = std::chrono::duration<double>(length).count();
  double bytes = 0, longest = 0;
  for (const JobMemory& job : jobs) bytes += static_cast<double>(job.resident);
  const double ending = ending_seconds(bytes);
  for (const JobMemory& job : jobs) {
    const Plan plan = plan_dump({.risk = risk_, .reserve = ending}, seconds, seconds,
                                predictor_.forecast(features_of(job, jobs.size() - 1)));
    longest = std::max(longest, plan.duration);
  }
  return {from_seconds(longest + ending), from_seconds(ending)};
}

void JobLeaving::asked(const std::string& job, pid_t pid, std::size_t others) {
  leaving_.insert_or_assign(job, std::pair(features_of(job_memory(pid), others), now()));
}

void JobLeaving::left(const std::string& job, bool well) {
  const auto found = leaving_.find(job);
  if (found == leaving_.end()) return;
  const auto [features, since] = found->second;
  leaving_.erase(found);
  const double seconds = std::chrono::duration<double>(now() - since).count();
  if (!well || seconds <= 0) return;
  predictor_.learn(features, seconds);
  if (auto kept = add_past_dump(place_, {features, seconds}); !kept) {
    log(Level::warning, kept.error().message);
  }
}

}  // namespace piracema::ckpt
