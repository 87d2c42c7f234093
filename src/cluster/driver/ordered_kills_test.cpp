#include "cluster/driver/ordered_kills.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::cluster;

namespace {

// Replicas 0 to 3: a source, two of a farm, a sink.
Job job_of_four(std::uint32_t farm = 2) {
  GraphShape shape;
  shape.nodes = {{.name = "in", .role = Role::source},
                 {.name = "work", .replicas = farm},
                 {.name = "out", .role = Role::sink}};
  shape.edges = {{.from = 0, .to = 1}, {.from = 1, .to = 2}};
  return *Job::make(runtime::encode_shape(shape), {}, {});
}

}  // namespace

TEST_CASE("a kill of what the job does not have is refused with what it has") {
  const Job job = job_of_four();
  CHECK(check_kills({{.node = "work", .replica = 1}, {.node = "out"}}, job).ok());
  CHECK(check_kills({{.node = "out"}, {.node = "work", .replica = 2}}, job).error().message ==
        "kill: there is no replica 2 of 'work'; nodes and their replicas are in (1), work (2), "
        "out (1)");
  CHECK(check_kills({{.node = "sink"}}, job).error().code == Errc::config);
}

TEST_CASE("a kill is due once the sources have read so much, and until it was carried out") {
  const Job job = job_of_four();
  JobReport report;
  report.kills = {{.order = {.node = "work", .replica = 1, .at = 0.5}},
                  {.order = {.node = "out", .at = 0.9}}};
  report.read = 0.4;
  CHECK(kills_due(report, job).empty());
  report.read = 0.5;
  const auto due = kills_due(report, job);
  REQUIRE(due.size() == 1);
  CHECK(due[0].kill == &report.kills[0]);
  CHECK(job.name(due[0].replica) == "work/1");
  due[0].kill->killed_at = Time(1);
  CHECK(kills_due(report, job).empty());
  report.read = 1;
  CHECK(kills_due(report, job).size() == 1);
}

TEST_CASE("a kill of a replica that is there no more is left out") {
  JobReport report;
  report.kills = {{.order = {.node = "work", .replica = 1, .at = 0}}};
  report.read = 1;
  CHECK(kills_due(report, job_of_four(1)).empty());
  CHECK(kills_due(report, job_of_four(2)).size() == 1);
}
