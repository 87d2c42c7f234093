#include "observe/status/tally.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::cluster;
using std::chrono::milliseconds;

namespace {

// One source, two replicas of a farm, one sink: replicas 0 to 3, all in slot 0.
Job make_job() {
  GraphShape shape;
  shape.nodes = {{.name = "in", .role = Role::source},
                 {.name = "work", .replicas = 2},
                 {.name = "out", .role = Role::sink}};
  shape.edges = {{.from = 0, .to = 1}, {.from = 1, .to = 2}};
  return *Job::make(runtime::encode_shape(shape), {}, {});
}

runtime::Heartbeat source_at(Epoch epoch, std::uint64_t items, std::uint32_t read_ppm) {
  return {.epoch = epoch,
          .progress = {
              {.replica = 0, .items_out = items, .bytes_out = 10 * items, .read_ppm = read_ppm}}};
}

}  // namespace

TEST_CASE("items that are redone count once in the job, and twice in the work of a node") {
  const Job job = make_job();
  Tally tally;
  tally.plan(job);

  tally.heard(0, source_at(1, 100, 400'000), 0);
  CHECK(tally.report.items == 100);
  CHECK(tally.report.bytes == 1'000);
  CHECK(tally.report.read == doctest::Approx(0.4));

  // Back to a snapshot at item 60; 50 more since.
  tally.heard(0, source_at(2, 50, 440'000), 60);
  CHECK(tally.report.items == 110);
  CHECK(tally.report.bytes == 1'100);
  CHECK(tally.report.nodes[0].items_out == 150);

  // A late word of the epoch before.
  tally.heard(0, source_at(1, 105, 420'000), 60);
  CHECK(tally.report.items == 110);
}

TEST_CASE("a process cannot report for replicas that it does not host") {
  const Job job = make_job();
  Tally tally;
  tally.plan(job);
  tally.heard(1, source_at(1, 100, 400'000), 0);
  tally.heard(0, {.epoch = 1, .progress = {{.replica = 4'000'000, .items_out = 1}}}, 0);
  CHECK(tally.report.items == 0);
}

TEST_CASE("a source that does not know how far it is leaves the progress unknown") {
  const Job job = make_job();
  Tally tally;
  tally.plan(job);
  tally.heard(0, source_at(1, 100, 2'000'000), 0);
  CHECK(tally.report.read < 0);
}

TEST_CASE("a recovery is told from its cause to the first item out") {
  const Job job = make_job();
  Tally tally;
  tally.plan(job);
  tally.report.kills = {{.order = {.node = "work"}, .slot = 2, .killed_at = milliseconds(10)}};

  tally.noted(milliseconds(5), FirstItemOut{1});
  tally.noted(milliseconds(12), Lost{2, "its process ended: killed by signal 9", "work/0"});
  tally.noted(milliseconds(13), Recovering{2, SnapshotId{7}, 30});
  tally.noted(milliseconds(40), Running{2});
  tally.noted(milliseconds(50), FirstItemOut{2});

  REQUIRE(tally.report.recoveries.size() == 1);
  const RecoveryReport& recovery = tally.report.recoveries[0];
  CHECK(recovery.causes ==
        std::vector<std::string>{"worker 2 (work/0): its process ended: killed by signal 9"});
  CHECK(recovery.restore == SnapshotId{7});
  CHECK(recovery.redone == 30);
  CHECK(recovery.noticed_at == milliseconds(12));
  CHECK(recovery.running_at == milliseconds(40));
  CHECK(recovery.first_out_at == milliseconds(50));
  CHECK(tally.report.kills[0].noticed_at == milliseconds(12));
  CHECK(tally.report.kills[0].first_out_at == milliseconds(50));
  CHECK(tally.report.notes.size() == 5);
}

TEST_CASE("snapshots are counted, and what they cost") {
  Tally tally;
  tally.noted(milliseconds(5), SnapshotTaken{1, 100, milliseconds(20)});
  tally.noted(milliseconds(7), SnapshotTaken{2, 50, milliseconds(10)});
  tally.noted(milliseconds(9), SnapshotAborted{3, "the disk is full"});
  CHECK(tally.report.snapshots.taken == 2);
  CHECK(tally.report.snapshots.failed == 1);
  CHECK(tally.report.snapshots.bytes == 150);
  CHECK(tally.report.snapshots.took == milliseconds(30));
  CHECK(tally.report.snapshots.last == SnapshotId{2});
}
