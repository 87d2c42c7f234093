#include "control/coordinator/plan/planned_job.h"

#include "control/coordinator/coordinator_testing.h"

namespace piracema::cluster {

namespace {

Joined comes_to(Slot slot) {
  return {.slot = slot,
          .incarnation = 0,
          .address = "address",
          .graph = runtime::encode_shape(test_shape()),
          .costs = {},
          .layouts = {"i64", "nothing", "nothing"}};
}

// Of a job that has begun, and of which nobody has said yet what it runs.
struct BegunJob {
  BegunJob() {
    journal.decide(TermRaised{1});
    journal.take();
  }

  Journal journal{JobMetadata(test_settings())};
  PlannedJob job{journal};
};

}  // namespace

TEST_CASE("the first process says what a job runs, and it is decided where") {
  BegunJob begun;
  auto& [journal, job] = begun;
  CHECK_FALSE(job);
  CHECK(job.worker_name(1) == "worker 1");

  REQUIRE(job.admit(comes_to(0)).ok());
  REQUIRE(job);
  CHECK(job->replicas() == 4);
  CHECK(journal.metadata().placement == job->placement);
  CHECK(job.worker_name(1) == "worker 1 (work/1, writer)");
}

TEST_CASE("a first process with no graph plans nothing") {
  BegunJob begun;
  auto& [journal, job] = begun;
  Joined first = comes_to(0);
  first.graph = "no graph";
  CHECK_FALSE(job.admit(first).ok());
  CHECK_FALSE(job);
  CHECK(journal.take().empty());
}

TEST_CASE("a job may begin with other numbers of replicas than its program says") {
  BegunJob begun;
  auto& [journal, job] = begun;
  Joined first = comes_to(0);
  first.replicas = {{"work", 3}};
  REQUIRE(job.admit(first).ok());
  CHECK(job->replicas() == 5);
  CHECK_FALSE(journal.metadata().scale);

  // The program is still the one that all others have to run.
  CHECK(job.admit(comes_to(1)).ok());
}

TEST_CASE("numbers of replicas that an operator cannot have are refused with its name") {
  BegunJob begun;
  auto& [journal, job] = begun;
  Joined first = comes_to(0);
  first.replicas = {{"nobody", 3}};
  const auto admitted = job.admit(first);
  REQUIRE_FALSE(admitted.ok());
  CHECK(has(admitted.error().message, "nobody"));
}

TEST_CASE("a process that runs another program is refused, and says in what it differs") {
  BegunJob begun;
  auto& [journal, job] = begun;
  REQUIRE(job.admit(comes_to(0)).ok());
  journal.take();

  Joined other = comes_to(1);
  GraphShape shape = test_shape();
  shape.nodes[1].replicas = 3;
  other.graph = runtime::encode_shape(shape);
  auto admitted = job.admit(other);
  REQUIRE_FALSE(admitted.ok());
  CHECK(admitted.error().message ==
        "worker 1 runs another program than the workers before it: its graph differs");

  other = comes_to(1);
  other.layouts = {"i64", "{i64}", "nothing"};
  admitted = job.admit(other);
  REQUIRE_FALSE(admitted.ok());
  CHECK(has(admitted.error().message, "the state of an operator is of another type"));
  CHECK(journal.take().empty());
}

TEST_CASE("whoever takes a job over has the same plan from the metadata alone") {
  BegunJob begun;
  auto& [journal, job] = begun;
  REQUIRE(job.admit(comes_to(0)).ok());

  Journal copy{journal.metadata()};
  const PlannedJob again(copy);
  REQUIRE(again);
  CHECK(again->placement == job->placement);
  CHECK(again.worker_name(0) == job.worker_name(0));
}

}  // namespace piracema::cluster
