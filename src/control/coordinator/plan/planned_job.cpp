#include "control/coordinator/plan/planned_job.h"

#include <utility>

#include "base/ensure.h"
#include "base/text.h"
#include "control/scale_request.h"

namespace piracema::cluster {

// The graph and the placement were checked when the job was planned, or decoded.
void PlannedJob::reload() {
  job_.reset();
  const JobMetadata& metadata = journal_.metadata();
  if (metadata.graph.empty()) return;
  JobSettings placed;
  placed.slots = metadata.settings.slots;
  placed.placement = metadata.placement;
  auto job = Job::make(metadata.graph, {}, placed, metadata.layouts);
  ENSURE(job.ok());
  job_ = *std::move(job);
}

Result<Done> PlannedJob::admit(const Joined& joined) {
  if (!job_) return plan(joined);
  const auto another = [&](const char* how) {
    return Error{Errc::config, concat("worker ", joined.slot,
                                      " runs another program than the workers before it: ", how)};
  };
  if (journal_.metadata().program != joined.graph) return another("its graph differs");
  if (job_->layouts != joined.layouts) {
    return another("the state of an operator is of another type");
  }
  return Done{};
}

Result<Done> PlannedJob::plan(const Joined& first) {
  auto job = Job::make(first.graph, first.costs, journal_.settings(), first.layouts);
  if (!job) return job.error();
  job_ = *std::move(job);
  journal_.decide(JobPlanned{job_->graph, job_->layouts, job_->placement});
  if (first.replicas.empty()) return Done{};
  // It has these numbers from the beginning.
  auto scaled = plan_scale(*job_, journal_.settings(), {first.replicas, {}});
  if (!scaled) return scaled.error();
  if (*scaled) {
    journal_.decide(**std::move(scaled));
    journal_.decide(PlanChanged{});
  }
  reload();
  return Done{};
}

std::string PlannedJob::worker_name(Slot slot) const {
  if (!job_) return concat("worker ", slot);
  return concat("worker ", slot, " (", job_->names_on(slot), ")");
}

}  // namespace piracema::cluster
