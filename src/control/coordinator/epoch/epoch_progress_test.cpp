#include "control/coordinator/epoch/epoch_progress.h"

#include "control/coordinator/coordinator_testing.h"

namespace piracema::cluster {

namespace {

Job job_to_watch() {
  auto job = Job::make(runtime::encode_shape(test_shape()), {}, test_settings());
  REQUIRE(job);
  return *std::move(job);
}

runtime::Progress sent_by(ReplicaId replica, std::uint64_t items) {
  runtime::Progress progress;
  progress.replica = replica;
  progress.items_out = items;
  return progress;
}

}  // namespace

TEST_CASE("items that sources have sent are counted, those of operators are not") {
  const Job job = job_to_watch();
  EpochProgress progress;
  progress.begin(job);
  progress.heard(job, job.placement[reader], {sent_by(reader, 70)});
  progress.heard(job, job.placement[work_1], {sent_by(work_1, 30)});

  CHECK(progress.emitted() == 70);
  CHECK(progress.replicas()[work_1].items_out == 30);
}

TEST_CASE("what a worker says of replicas that it does not host does not count") {
  const Job job = job_to_watch();
  REQUIRE(job.placement[reader] != job.placement[writer]);
  EpochProgress progress;
  progress.begin(job);
  progress.heard(job, job.placement[writer], {sent_by(reader, 70), sent_by(4711, 70)});

  CHECK(progress.emitted() == 0);
  CHECK(progress.replicas().size() == job.replicas());
}

TEST_CASE("what a source has saved counts before its heartbeat says so, and is not taken back") {
  const Job job = job_to_watch();
  EpochProgress progress;
  progress.begin(job);
  progress.saved(reader, 50);
  CHECK(progress.emitted() == 50);
  progress.saved(reader, 40);
  CHECK(progress.emitted() == 50);
}

TEST_CASE("each epoch has one first item, and begins with nothing done") {
  const Job job = job_to_watch();
  EpochProgress progress;
  progress.begin(job);
  progress.saved(reader, 50);
  CHECK(progress.first_output());
  CHECK_FALSE(progress.first_output());

  progress.begin(job);
  CHECK(progress.emitted() == 0);
  CHECK(progress.replicas()[writer].replica == writer);
  CHECK(progress.first_output());
}

TEST_CASE("a job that goes on with other replicas has none that have done anything") {
  const Job job = job_to_watch();
  EpochProgress progress;
  progress.begin(job);
  progress.saved(reader, 50);
  progress.clear();

  CHECK(progress.emitted() == 0);
  CHECK(progress.replicas().empty());
}

}  // namespace piracema::cluster
