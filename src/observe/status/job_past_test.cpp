#include "observe/status/job_past.h"

#include <doctest/doctest.h>

#include "base/random.h"
#include "observe/status/recorder.h"

using namespace piracema;
using namespace piracema::observe;
using std::chrono::seconds;

namespace {

/// Of a coordinator that has a job since then, which began at second 1,000.
JobFacts facts(std::uint64_t pid, double since, double started_at = 1'000) {
  JobFacts facts;
  facts.started_at = started_at;
  facts.coordinator = {.host = "a", .pid = pid, .since = since};
  return facts;
}

/// What it has seen in its first minute.
JobStatus seen_by(const JobFacts& facts) {
  JobStatus seen;
  seen.facts = facts;
  seen.at = seconds(60);
  seen.snapshots = {{.snapshot = 1, .at = seconds(50), .took = seconds(2), .bytes = 7}};
  seen.snapshots_taken = 1;
  seen.snapshots_bytes = 7;
  seen.snapshot_seconds.add(2);
  seen.failures = {{.losses = {{.at = seconds(40), .who = "worker 1", .cause = "exited"}},
                    .epoch = 2,
                    .recovering_at = seconds(41)}};
  seen.failures_count = 1;
  seen.losses_by_cause = {{"exited", 1}};
  seen.recoveries = 1;
  seen.items_redone = 5;
  seen.processes_started = 3;
  seen.samples = {{.at = seconds(1), .in = 10}, {.at = seconds(2), .in = 20}};
  seen.workers = {{.slot = 0, .joined_at = seconds(3), .heard_at = seconds(59)}};
  return seen;
}

}  // namespace

TEST_CASE("whoever has stood by counts time from before it had the job") {
  JobFacts second = facts(2, 1'600, 1'550);
  JobPast past(second, 1'550);
  CHECK(past.complete(seen_by(second))->at == seconds(60));
  JobFacts first = facts(1, 1'000);
  REQUIRE(past.take(JobPast::told(seen_by(first))).ok());
  const auto status = past.complete(seen_by(second));
  CHECK(status->at == seconds(610));
  CHECK(status->now == 1'610);
  CHECK(status->facts.started_at == 1'000);
  CHECK(status->facts.coordinator.since == 1'600);
  REQUIRE(status->failures.size() == 2);
  CHECK(status->failures[0].losses[0].at == seconds(40));
  CHECK(status->failures[1].losses[0].at == seconds(590));
}

TEST_CASE("times are since the start of the job, also where its coordinator came later") {
  const JobFacts late = facts(2, 1'600);
  const auto status = JobPast(late).complete(seen_by(late));
  CHECK(status->at == seconds(660));
  CHECK(status->now == 1'660);
  CHECK(status->facts.started_at == 1'000);
  CHECK(status->snapshots[0].at == seconds(650));
  CHECK(status->snapshots[0].took == seconds(2));
  CHECK(status->failures[0].losses[0].at == seconds(640));
  CHECK(status->failures[0].recovering_at == seconds(641));
  CHECK(status->workers[0].heard_at == seconds(659));
  CHECK(status->samples[1].at == seconds(602));
  CHECK(status->snapshots_taken == 1);
}

TEST_CASE("what the coordinators before have seen comes first, and counts") {
  const JobFacts first = facts(1, 1'000), second = facts(2, 1'100, 1'005),
                 third = facts(3, 1'200, 1'150);
  JobPast of_second(second), of_third(third);
  const auto one = JobPast(first).complete(seen_by(first));
  REQUIRE(of_second.take(JobPast::told(*one)).ok());
  const auto two = of_second.complete(seen_by(second));
  CHECK(two->facts.started_at == 1'000);
  CHECK(two->at == seconds(160));
  REQUIRE(of_third.take(JobPast::told(*two)).ok());
  const auto three = of_third.complete(seen_by(third));
  CHECK(three->facts.started_at == 1'000);
  CHECK(three->facts.coordinator.pid == 3);
  REQUIRE(three->failures.size() == 3);
  CHECK(three->failures[0].losses[0].at == seconds(40));
  CHECK(three->failures[1].losses[0].at == seconds(140));
  CHECK(three->failures[2].losses[0].at == seconds(240));
  CHECK(three->failures_count == 3);
  CHECK(three->losses_by_cause.at("exited") == 3);
  CHECK(three->snapshots.size() == 3);
  CHECK(three->snapshots_bytes == 21);
  CHECK(three->snapshot_seconds.count == 3);
  CHECK(three->snapshot_seconds.sum == 6);
  CHECK(three->items_redone == 15);
  CHECK(three->processes_started == 9);
  CHECK(three->samples.size() == 6);
  CHECK(three->workers.size() == 1);
}

TEST_CASE("a past is taken once, and none that this coordinator has told itself") {
  const JobFacts own = facts(2, 1'100);
  JobPast past(own);
  REQUIRE(past.take(JobPast::told(*past.complete(seen_by(own)))).ok());
  CHECK(past.complete(seen_by(own))->failures.size() == 1);
  const JobFacts first = facts(1, 1'000);
  const Buffer told = JobPast::told(*JobPast(first).complete(seen_by(first)));
  REQUIRE(past.take(told).ok());
  REQUIRE(past.take(told).ok());
  CHECK(past.complete(seen_by(own))->failures.size() == 2);
}

TEST_CASE("the lists stay bounded, and figures over time become coarser") {
  const JobFacts first = facts(1, 1'000), second = facts(2, 9'000);
  JobStatus seen = seen_by(first);
  for (std::size_t i = 0; i < Recorder::samples_max - 1; ++i) {
    seen.samples.push_back({.at = seconds(3 + i), .in = 1});
  }
  seen.samples.resize(Recorder::samples_max - 1);
  seen.snapshots.assign(Recorder::snapshots_max, {.snapshot = 1, .at = seconds(1)});
  JobPast past(second);
  REQUIRE(past.take(JobPast::told(seen)).ok());
  const auto status = past.complete(seen_by(second));
  CHECK(status->samples.size() == (Recorder::samples_max + 1) / 2);
  CHECK(status->samples.back().at > seconds(8'000));
  CHECK(status->snapshots.size() == Recorder::snapshots_max);
  CHECK(status->snapshots.back().at == seconds(8'050));
}

TEST_CASE("a clock that is behind that of the coordinator before does not turn time back") {
  const JobFacts first = facts(1, 1'000), second = facts(2, 500, 400);
  JobPast past(second);
  REQUIRE(past.take(JobPast::told(*JobPast(first).complete(seen_by(first)))).ok());
  CHECK(past.complete(seen_by(second))->at == seconds(60));
}

TEST_CASE("whatever bytes come as a past, they are taken or refused") {
  const JobFacts first = facts(1, 1'000), second = facts(2, 2'000);
  const Buffer right = JobPast::told(*JobPast(first).complete(seen_by(first)));
  Random random(11);
  std::size_t refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    Buffer bytes = right;
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
      bytes.data()[random.below(bytes.size())] = static_cast<std::byte>(random.next());
    }
    JobPast past(second);
    refused += past.take(Bytes(bytes).first(random.below(bytes.size() + 1))).ok() ? 0 : 1;
    const auto status = past.complete(seen_by(second));
    CHECK(status->at >= seconds(60));
    CHECK(status->samples.size() < Recorder::samples_max);
  }
  CHECK(refused > 0);
}
