#include "observe/http/metrics.h"

#include <doctest/doctest.h>

#include <set>
#include <sstream>

using namespace piracema;
using namespace piracema::observe;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

JobStatus some_status() {
  JobStatus status{.facts = {.command = {"/bin/a\"pp"}, .version = "1.2", .workers = 2},
                   .at = seconds(10),
                   .phase = "running",
                   .epoch = 2,
                   .read = 0.5};
  status.nodes = {{.name = "in", .role = "source"}, {.name = "out", .role = "sink"}};
  status.nodes[0].work.items_out = 12;
  status.nodes[1].waiting = Waiting{7, milliseconds(2'500)};
  status.lag = seconds(3);
  status.nodes[0].work.spent = {seconds(2), seconds(1), seconds(7)};
  status.replicas = {{.node = 0}, {.node = 1, .index = 3}};
  status.workers = {{.slot = 0, .host = "a", .joined = true, .cpu = milliseconds(1'500)}};
  status.snapshots = {{1, seconds(4), milliseconds(20), 100, "", 30},
                      {2, seconds(6), {}, 0, "no room"}};
  status.snapshots_taken = 1;
  status.snapshot_seconds.add(0.02);
  status.losses_by_cause["silent"] = 3;
  return status;
}

bool has(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != text.npos;
}

}  // namespace

TEST_CASE("figures have the names and labels that the reference promises") {
  const std::string text = metrics(some_status(), MetricsFormat::prometheus);
  CHECK(has(text, R"(piracema_items_total{node="in",direction="out"} 12)"));
  CHECK(has(text, R"(piracema_time_seconds_total{node="in",state="busy"} 2)"));
  CHECK(has(text, R"(piracema_time_seconds_total{node="in",state="blocked"} 1)"));
  CHECK(has(text, R"(piracema_time_seconds_total{node="in",state="idle"} 7)"));
  CHECK(has(text, R"(piracema_waiting_items{node="out"} 7)"));
  CHECK(has(text, R"(piracema_lag_seconds{node="out"} 2.5)"));
  CHECK(text.find(R"(piracema_lag_seconds{node="in"})") == text.npos);
  CHECK(has(text, R"(piracema_sink_lag_seconds 3)"));
  CHECK(has(text, R"(piracema_failures_total{cause="silent"} 3)"));
  CHECK(has(text, R"(piracema_failures_total{cause="process_ended"} 0)"));
  CHECK(has(text, R"(piracema_job_phase{phase="running"} 1)"));
  CHECK(has(text, R"(piracema_job_phase{phase="gathering"} 0)"));
  CHECK(has(text, R"(piracema_job_phase{phase="attaching"} 0)"));
  CHECK(has(text, R"(piracema_workers{state="joined"} 1)"));
  CHECK(has(text, R"(piracema_workers{state="missing"} 1)"));
  CHECK(has(text, R"(piracema_last_snapshot_age_seconds 6)"));
  CHECK(has(text, R"(piracema_last_snapshot_size_bytes 100)"));
  CHECK(has(text, R"(piracema_last_snapshot_under_way_bytes 30)"));
  CHECK(has(text, R"(piracema_snapshot_duration_seconds_bucket{le="0.01"} 0)"));
  CHECK(has(text, R"(piracema_snapshot_duration_seconds_bucket{le="0.025"} 1)"));
  CHECK(has(text, R"(piracema_snapshot_duration_seconds_bucket{le="+Inf"} 1)"));
  CHECK(has(text, R"(piracema_epoch 2)"));
  CHECK(has(text, "# TYPE piracema_items_total counter"));
}

TEST_CASE("a name from outside cannot end its label") {
  CHECK(has(metrics(some_status(), MetricsFormat::prometheus),
            R"(piracema_job_info{program="a\"pp",version="1.2"} 1)"));
}

TEST_CASE("OpenMetrics names a counter without its ending, and says where it ends") {
  const std::string text = metrics(some_status(), MetricsFormat::openmetrics);
  CHECK(has(text, "# TYPE piracema_items counter"));
  CHECK(has(text, R"(piracema_items_total{node="in",direction="out"} 12)"));
  CHECK(text.ends_with("\n# EOF\n"));
  CHECK(metrics_format("application/openmetrics-text;version=1.0.0,text/plain;q=0.5") ==
        MetricsFormat::openmetrics);
  CHECK(metrics_format("text/plain") == MetricsFormat::prometheus);
  CHECK(metrics_format("") == MetricsFormat::prometheus);
}

TEST_CASE("each family has its help and type once, and no line comes twice") {
  for (const std::string& text : {metrics(some_status(), MetricsFormat::prometheus),
                                  replica_metrics(some_status(), MetricsFormat::prometheus)}) {
    std::set<std::string> seen, families;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(seen.insert(line.substr(0, line.rfind(' '))).second);
      if (line.starts_with("# TYPE ")) families.insert(line.substr(7, line.rfind(' ') - 7));
    }
    CHECK(families.size() >= 5);
  }
}

TEST_CASE("replicas are told apart on a page of their own") {
  const std::string text = replica_metrics(some_status(), MetricsFormat::prometheus);
  CHECK(has(text, R"(piracema_replica_items_total{node="out",replica="3",direction="in"} 0)"));
  CHECK(metrics(some_status(), MetricsFormat::prometheus).find("replica=") == std::string::npos);
}

TEST_CASE("a job that nobody has joined yet has figures, too") {
  CHECK(has(metrics(JobStatus{}, MetricsFormat::prometheus), "piracema_epoch 0"));
  CHECK(replica_metrics(JobStatus{}, MetricsFormat::openmetrics).ends_with("# EOF\n"));
}
