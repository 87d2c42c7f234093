#include "ckpt/queue/slurm.h"

#include <doctest/doctest.h>

namespace piracema::ckpt {

TEST_CASE("times and state are found among what Slurm tells of a job") {
  const SlurmJob job = parse_slurm_job(
      "JobId=7 JobName=x JobState=RUNNING Reason=None RunTime=00:00:10 TimeLimit=00:01:00 "
      "StartTime=2026-11-21T20:00:00 EndTime=2026-11-21T20:01:00 "
      "PreemptEligibleTime=2026-11-21T20:00:00 "
      "PreemptTime=None NodeList=n1\n");
  CHECK(job.state == "RUNNING");
  CHECK(job.preempted == 0);
  const SlurmJob start = parse_slurm_job("EndTime=2026-11-21T20:00:00");
  CHECK(job.ends - start.ends == 60);
  CHECK(parse_slurm_job("EndTime=Unknown").ends == 0);
  CHECK(slurm_value("NodeAddr=10.0.0.1 X=", "NodeAddr") == "10.0.0.1");
  CHECK(slurm_value("MyNodeAddr=1", "NodeAddr").empty());
  CHECK(slurm_value("NodeAddr", "NodeAddr").empty());
}

TEST_CASE("the warning of a job's own end is told from preemption by the clock") {
  const SlurmJob job{"RUNNING", 10'000, 0};
  // Asked for 60 s before the end, it came 88 s before, and 30 s.
  CHECK_FALSE(means_preemption(job, job, 9'912, 60));
  CHECK_FALSE(means_preemption(job, job, 9'970, 60));
  CHECK(means_preemption(job, job, 9'000, 60));
  CHECK(means_preemption(job, {"RUNNING", 10'000, 9'950}, 9'950, 60));
  CHECK(means_preemption(job, {"RUNNING", 9'980, 0}, 9'950, 60));
  CHECK(means_preemption(job, {}, 9'950, 60));
}

TEST_CASE("who was cancelled is not put into the queue again") {
  CHECK(is_to_be_requeued({"RUNNING", 0, 0}));
  for (const char* state : {"CANCELLED", "COMPLETING", "PREEMPTED", ""}) {
    CHECK_FALSE(is_to_be_requeued({state, 0, 0}));
  }
}

}  // namespace piracema::ckpt
