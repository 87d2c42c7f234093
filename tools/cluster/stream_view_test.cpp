#include "tools/cluster/stream_view.h"

#include <doctest/doctest.h>

#include "tools/cluster/stream_metrics.h"

using namespace piracema;
using namespace piracema::tools;
using jobs::StreamSight;

namespace {

constexpr std::uint64_t now_ms = 100'000;

jobs::Job running(jobs::JobId id = 7) {
  return {.id = id,
          .spec = {.name = "tally", .command = {"tally"}},
          .state = jobs::JobState::running,
          .node = "a",
          .attempt = 2};
}

StreamSight seen(jobs::JobId id = 7) {
  return {.attempt = {id, 2},
          .told_ms = now_ms - 400,
          .phase = "running",
          .bottleneck = "tally holds the job back",
          .items_in_per_second = 1'234,
          .items_out_per_second = 12.34,
          .items = 5'000,
          .read = 0.25,
          .queued = 3,
          .replicas = 5,
          .workers = 2,
          .snapshots_taken = 9,
          .snapshots_failed = 1,
          .snapshot = StreamSight::Snapshot{12, 800, 13, 2'048},
          .failures = 1,
          .recoveries = 1,
          .items_redone = 30,
          .failure = StreamSight::Failure{.age_ms = 20'000,
                                          .who = "worker 1",
                                          .replicas = "tally/0",
                                          .how = "its process ended: killed by signal 9 (SIGKILL)",
                                          .cause = "process_ended",
                                          .snapshot = 6,
                                          .items_redone = 30,
                                          .running_after_ms = 84},
          .coordinator = StreamSight::Coordinator{"a", 4711, 60'000}};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("why nothing is known of a stream is said, and what is old is not known") {
  StreamSight sight = seen();
  CHECK_FALSE(why_unknown(running(), &sight, now_ms));
  CHECK(why_unknown(running(), nullptr, now_ms) == "its node a has not told of it yet");
  CHECK(why_unknown(running(8), &sight, now_ms) == "its node a has not told of it yet");
  sight.attempt.attempt = 1;
  CHECK(why_unknown(running(), &sight, now_ms) == "its node a has not told of it yet");
  sight = seen();
  CHECK(why_unknown(running(), &sight, now_ms + 20'000) ==
        "its node a has not told of it for 20.4 s");
  sight.why = "it has not answered within 2 s";
  CHECK(why_unknown(running(), &sight, now_ms) == sight.why);
  // That is told seldom.
  sight.why = jobs::shows_no_stream;
  CHECK(why_unknown(running(), &sight, now_ms + 30'000) == sight.why);
}

TEST_CASE("a failure is told in sentences: who, noticed by what, after how long, what was redone") {
  StreamSight::Failure failure = *seen().failure;
  CHECK(explained(failure) ==
        "worker 1 (tally/0) was lost; noticed by the end of its process: killed by signal 9 "
        "(SIGKILL). The stream went back to snapshot 6, ran again 84 ms after that was noticed, "
        "and did 30 items again.");
  failure.noticed_after_ms = 3;
  failure.others = 2;
  failure.running_after_ms.reset();
  CHECK(explained(failure) ==
        "worker 1 (tally/0) and 2 others were lost, 3 ms before that was noticed; noticed by the "
        "end of its process: killed by signal 9 (SIGKILL). The stream is on its way back.");
  CHECK(explained({.who = "tally/0",
                   .replicas = "tally/0",
                   .how = "item 7: no",
                   .cause = "operator_failed",
                   .items_redone = 1,
                   .running_after_ms = 5}) ==
        "tally/0 was lost; noticed by what its operator threw: item 7: no. The stream went back to "
        "the beginning, ran again 5 ms after that was noticed, and did 1 item again.");
  const auto noticed = [](const char* cause, const char* how) {
    const std::string text = explained({.how = how, .cause = cause});
    return text.substr(0, text.find(". The"));
  };
  CHECK(noticed("silent", "no heartbeat for 500 ms") ==
        "something was lost; noticed by its silence: no heartbeat for 500 ms");
  CHECK(noticed("connection_ended", "its connection ended") ==
        "something was lost; noticed by the end of its connection");
  CHECK(noticed("magic", "") == "something was lost; noticed otherwise");
  CHECK(explained({.items_redone = 0, .running_after_ms = 112}) ==
        "nothing was lost, but another coordinator took the job over while workers changed. The "
        "stream went back to the beginning, ran again 112 ms after that was noticed, and did 0 "
        "items again.");
}

TEST_CASE("a line has what matters of a stream, and more lines have the rest") {
  const std::string line = line_of(seen(), now_ms);
  for (const char* part :
       {"7  running", "1.2k", "12.3", "25 %", "a for 1 min 0 s", "800 ms ago, 2.05 kB in 13 ms"}) {
    CAPTURE(line);
    CHECK_MESSAGE(has(line, part), part);
  }
  std::string lines;
  for (const std::string& one : lines_of(seen(), now_ms)) lines += one + "\n";
  CHECK(lines ==
        "stream         running, seen 400 ms ago\n"
        "items          1.2k/s from the sources, 12.3/s into the sinks; 5000 so far, 25 % of the "
        "input\n"
        "backlog        3 packets wait; tally holds the job back\n"
        "replicas       5 in 2 processes\n"
        "snapshots      9 taken, 1 failed; the newest: 800 ms ago, 2.05 kB in 13 ms\n"
        "failures       1; 1 return to a snapshot, 30 items done again\n"
        "               20.4 s ago " +
            explained(*seen().failure) +
            "\n"
            "coordinator    process 4711 on a for 1 min 0 s\n");
}

TEST_CASE("what a user has made up gives no orders to a terminal") {
  StreamSight sight = seen();
  sight.phase = "\x1b[2J";
  sight.bottleneck = "a\nb\x1b]0;c";
  sight.coordinator->host = "\xc2\x9b";
  for (const std::string& line : lines_of(sight, now_ms)) {
    CHECK(line.find_first_of("\x1b\n\x9b") == std::string::npos);
  }
  sight.failure.reset();
  CHECK(line_of(sight, now_ms).find_first_of("\x1b\n\x9b") == std::string::npos);
}

TEST_CASE("programs are told the same, and that something is not known") {
  const StreamSight sight = seen();
  const auto object = stream_json(running(), &sight, now_ms);
  CHECK(object["known"] == true);
  CHECK(object["snapshots"]["last"]["took_ms"] == 13);
  CHECK(object["failure"]["text"] == explained(*sight.failure));
  CHECK(object["failure"]["age_ms"] == 20'400);
  CHECK(object["coordinator"]["pid"] == 4711);
  CHECK(stream_json(running(), nullptr, now_ms).dump() ==
        R"({"known":false,"why":"its node a has not told of it yet"})");
}

TEST_CASE("figures are those of streams that are known, and no more of them than a bound") {
  ClusterSight sight{.now_ms = now_ms};
  const std::size_t most = streams_with_metrics_max;
  for (jobs::JobId id = 1; id <= most + 3; ++id) {
    sight.jobs.push_back(running(id));
    sight.streams[id] = seen(id);
  }
  sight.streams[1].why = jobs::shows_no_stream;
  sight.streams.erase(2);
  sight.streams[3].read.reset();
  observe::MetricsWriter out(observe::MetricsFormat::prometheus);
  write_streams(out, sight);
  const std::string text = out.end();
  CHECK(has(text, "piracema_cluster_streams{known=\"yes\"} 201"));
  CHECK(has(text, "piracema_cluster_streams{known=\"no\"} 1"));
  CHECK(
      has(text,
          "piracema_cluster_stream_items_per_second{job_id=\"3\",name=\"tally\",direction=\"out\"} "
          "12.34"));
  CHECK(has(text, "piracema_cluster_stream_failures_total{job_id=\"3\",name=\"tally\"} 1"));
  CHECK_FALSE(has(text, "read_ratio{job_id=\"3\""));
  CHECK(has(text, "read_ratio{job_id=\"4\""));
  CHECK_FALSE(has(text, "{job_id=\"1\""));
  CHECK_FALSE(has(text, "{job_id=\"2\""));
  CHECK(has(text, "{job_id=\"202\""));
  CHECK_FALSE(has(text, "{job_id=\"203\""));
}
