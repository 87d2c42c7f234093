#include "observe/status/recorder.h"

#include <doctest/doctest.h>

#include "observe/status/status_json.h"

using namespace piracema;
using namespace piracema::cluster;
using namespace piracema::observe;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

std::string graph() {
  GraphShape shape;
  shape.nodes = {{.name = "in", .role = Role::source},
                 {.name = "work", .replicas = 2},
                 {.name = "out", .role = Role::sink}};
  shape.edges = {{.from = 0, .to = 1}, {.from = 1, .to = 2}};
  return runtime::encode_shape(shape);
}

/// A job in slot 0 whose coordinator, tally and recorder hear the same.
struct Watched {
  Coordinator coordinator{JobSettings{.slots = 1, .snapshots = true}};
  Tally tally;
  Recorder recorder{JobFacts{.workers = 1, .snapshots = true}};

  Watched() {
    tell(Time{}, Tick{});
    tell(Time{}, Joined{.graph = graph()});
    tally.plan(*coordinator.job());
    recorder.plan(*coordinator.job());
    recorder.joined(Time{}, 0, 0, 4711, "here");
    tell(Time{}, Said{0, 0, runtime::Ready{coordinator.epoch()}});
    CHECK(look(Time{})->running);
  }

  void tell(Time at, const Event& event) {
    for (const Action& action : coordinator.step(at, event)) {
      const auto* tell = std::get_if<Tell>(&action);
      if (tell == nullptr) continue;
      tally.noted(at, tell->note);
      recorder.noted(at, tell->note);
    }
  }
  void beat(Time at, std::vector<runtime::Progress> progress) {
    const runtime::Heartbeat heartbeat{coordinator.epoch(), 1'000, std::move(progress)};
    tally.heard(0, heartbeat, emitted_at_restore(coordinator));
    recorder.heard(at, 0, heartbeat);
    tell(at, Said{0, 0, heartbeat});
  }
  std::shared_ptr<const JobStatus> look(Time at) { return recorder.look(at, coordinator, tally); }
};

std::uint64_t ns(Time time) { return static_cast<std::uint64_t>(time.count()); }

}  // namespace

TEST_CASE("each host of the job is shown as it is, and since when") {
  Watched job;
  job.recorder.host_is(seconds(1), "here", "here");
  job.recorder.host_is(seconds(1), "there", "here");
  job.recorder.host_is(seconds(2), "there", "lost");
  job.recorder.host_is(seconds(3), "there", "lost");
  const auto status = job.look(seconds(3));
  REQUIRE(status->hosts.size() == 2);
  CHECK(status->hosts[1].state == "lost");
  CHECK(status->hosts[1].since == seconds(2));
  const auto shown = hosts_json(*status);
  CHECK(shown.find(R"({"name":"there","state":"lost","since":2.0,"workers":[]})") != shown.npos);
}

TEST_CASE("by which hosts broadcasts go is shown as it is now, and nothing of it after a loss") {
  Watched job;
  job.recorder.noted(seconds(1), BroadcastRouted{0, "show", "a to b c"});
  job.recorder.noted(seconds(2), BroadcastRouted{0, "show", "a to b; b to c"});
  const auto status = job.look(seconds(3));
  REQUIRE(status->broadcasts.size() == 1);
  const auto shown = hosts_json(*status);
  CHECK(shown.find(R"({"worker":0,"node":"show","tree":"a to b; b to c","since":2.0})") !=
        shown.npos);
  job.recorder.noted(seconds(4), Recovering{2, 1, 7});
  CHECK(job.look(seconds(5))->broadcasts.empty());
}

TEST_CASE("the time of a replica is busy, blocked or idle, and all of it") {
  Watched job;
  job.beat(seconds(1),
           {{.replica = 1, .busy_ns = ns(milliseconds(600)), .blocked_ns = ns(milliseconds(300))}});
  const auto status = job.look(seconds(1));

  const TimeSpent& spent = status->replicas[1].work.spent;
  CHECK(spent.busy == milliseconds(600));
  CHECK(spent.blocked == milliseconds(300));
  CHECK(spent.idle == milliseconds(100));
  for (const ReplicaStatus& replica : status->replicas)
    CHECK(replica.work.spent.all() == seconds(1));
  CHECK(status->nodes[1].work.spent.all() == seconds(2));
  CHECK(busy_share(status->replicas[1].work) == doctest::Approx(0.6));
  CHECK(status->nodes[1].busiest == 0);
}

TEST_CASE("a node is as far in event time as those of its replicas that have not ended") {
  Watched job;
  const auto beat = [&](int first, int second) {
    job.beat(seconds(1), {{.replica = 1, .event_time = seconds(first)},
                          {.replica = 2, .event_time = seconds(second)}});
    return job.look(seconds(1))->nodes[1].work.event_time;
  };
  CHECK(beat(100, 400) == seconds(100));
  job.tell(seconds(1), Said{0, 0, runtime::Ended{job.coordinator.epoch(), 1}});
  CHECK(beat(100, 500) == seconds(500));
  job.tell(seconds(1), Said{0, 0, runtime::Ended{job.coordinator.epoch(), 2}});
  CHECK(beat(100, 600) == seconds(100));  // Nothing more will come.
}

TEST_CASE("an operator that does not return is busy meanwhile, and its time is not counted twice") {
  Watched job;
  const auto at_one_item = [](std::uint64_t busy, std::uint32_t calls) {
    return std::vector<runtime::Progress>{{.replica = 1, .busy_ns = busy, .calls = calls}};
  };
  for (int second = 1; second <= 4; ++second) {
    job.beat(seconds(second), at_one_item(0, 7));
    // Before the second look nobody knows that it has not returned meanwhile.
    CHECK(job.look(seconds(second))->replicas[1].work.spent.busy == seconds(second - 1));
  }
  job.beat(seconds(5), at_one_item(ns(milliseconds(4'500)), 8));
  job.look(seconds(5));
  const auto status = job.look(seconds(6));
  CHECK(status->replicas[1].work.spent.busy == milliseconds(4'500));
  CHECK(status->replicas[1].work.spent.all() == seconds(6));
}

TEST_CASE("a heartbeat that tells of more than has passed is counted with the next look") {
  Watched job;
  job.beat(seconds(1), {{.replica = 1, .busy_ns = ns(milliseconds(1'200))}});
  CHECK(job.look(seconds(1))->replicas[1].work.spent.busy == seconds(1));
  CHECK(job.look(seconds(2))->replicas[1].work.spent.busy == milliseconds(1'200));
}

TEST_CASE("rates are those of the last seconds, not of the whole job") {
  Watched job;
  for (int second = 1; second <= 20; ++second) {
    const std::uint64_t items = second <= 10 ? 1'000u * static_cast<unsigned>(second) : 10'000u;
    job.beat(seconds(second), {{.replica = 0, .items_out = items}});
    job.look(seconds(second));
  }
  const auto status = job.look(milliseconds(20'500));
  CHECK(status->nodes[0].work.items_out_rate == 0);
  CHECK(status->nodes[0].work.items_out == 10'000);
}

TEST_CASE("a loss and the way back from it are one failure, with all its times") {
  Watched job;
  job.recorder.noted(seconds(3), Lost{0, "its process ended: killed by signal 9", "work/1",
                                      LossCause::process_ended});
  CHECK_FALSE(job.look(seconds(3))->workers[0].joined);
  job.recorder.noted(milliseconds(3'010), Recovering{2, 7, 40});
  job.recorder.noted(milliseconds(3'050), Running{2});
  job.recorder.noted(milliseconds(3'060), FirstItemOut{2});
  const auto status = job.look(seconds(4));

  REQUIRE(status->failures.size() == 1);
  const FailureStatus& failure = status->failures[0];
  REQUIRE(failure.losses.size() == 1);
  CHECK(failure.losses[0].cause == "process_ended");
  CHECK(failure.noticed_at() == seconds(3));
  CHECK(*failure.restore == 7);
  CHECK(failure.redone == 40);
  CHECK(*failure.running_at == milliseconds(3'050));
  CHECK(*failure.first_out_at == milliseconds(3'060));
  CHECK(status->losses_by_cause.at("process_ended") == 1);
  CHECK(status->recoveries == 1);
  CHECK(status->items_redone == 40);
  CHECK(status->recovery_seconds.sum == doctest::Approx(0.05));
}

TEST_CASE("two losses before a recovery are one failure, one after it is another") {
  Watched job;
  job.recorder.noted(seconds(1), Lost{0, "its connection ended", "a", LossCause::connection_ended});
  job.recorder.noted(seconds(1), ReplicaFailed{1, "work/0", 17, "bad"});
  job.recorder.noted(seconds(2), Recovering{2, 1, 0});
  job.recorder.noted(seconds(3), Lost{0, "no heartbeat for 1250 ms", "a", LossCause::silent});
  const auto status = job.look(seconds(4));
  REQUIRE(status->failures.size() == 2);
  CHECK(status->failures[0].losses.size() == 2);
  CHECK(status->failures[0].losses[1].how == "item 17: bad");
  CHECK(status->failures[1].losses[0].cause == "silent");
  CHECK(status->failures[1].epoch == 0);
}

TEST_CASE("history is bounded, and samples are about all of the job") {
  Watched job;
  for (std::uint64_t i = 1; i <= 3'000; ++i) {
    const Time at = seconds(i);
    job.recorder.noted(at, SnapshotTaken{i, 100, milliseconds(3)});
    job.recorder.noted(at, Lost{0, "its process ended: exit code 1", "", LossCause::process_ended});
    job.recorder.noted(at, Recovering{static_cast<Epoch>(i + 1), i, 1});
    job.look(at);
  }
  const auto status = job.look(seconds(3'001));
  CHECK(status->snapshots.size() == Recorder::snapshots_max);
  CHECK(status->snapshots.back().snapshot == 3'000);
  CHECK(status->snapshots_taken == 3'000);
  CHECK(status->failures.size() == Recorder::failures_max);
  CHECK(status->failures_count == 3'000);
  CHECK(status->samples.size() < Recorder::samples_max);
  CHECK(status->samples.size() >= Recorder::samples_max / 2 - 1);
  CHECK(status->samples.front().at < seconds(20));
}

TEST_CASE("a worker cannot say how large the state of somebody else's replica is") {
  Watched job;
  job.recorder.heard(seconds(1), 0, runtime::Saved{.replica = 1, .bytes = 50});
  job.recorder.heard(seconds(1), 0, runtime::Saved{.replica = 99, .bytes = 50});
  job.recorder.heard(seconds(1), 9, runtime::Saved{.replica = 2, .bytes = 50});
  const auto status = job.look(seconds(1));
  CHECK(status->replicas[1].work.state_bytes == 50);
  CHECK(status->replicas[2].work.state_bytes == 0);
}

TEST_CASE("what was published does not change when the job goes on") {
  Watched job;
  const auto before = job.look(seconds(1));
  job.recorder.noted(seconds(2), SnapshotTaken{1, 100, milliseconds(3)});
  job.look(seconds(2));
  CHECK(before->snapshots.empty());
  CHECK(before->at == seconds(1));
}
