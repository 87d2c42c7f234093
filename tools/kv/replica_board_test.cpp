#include "tools/kv/replica_board.h"

#include <doctest/doctest.h>

#include "tools/kv/replica_site.h"

using namespace piracema;
using namespace piracema::tools;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// Replica 1 of three follows 0; all are connected, and 2 is 40 instances behind.
smr::ReplicaFigures follower() {
  smr::ReplicaFigures figures;
  figures.own = {
      .id = 1, .address = "b:1", .view = 3, .leader = 0, .decided = 100, .is_member = true};
  figures.members = {{0, "a:1", true, 100}, {1, "b:1", true, 100}, {2, "c:1", true, 60}};
  figures.quorum = 2;
  figures.leader_for = seconds(7);
  figures.ordered = 1'000;
  figures.reads = 50;
  return figures;
}

ReplicaSight seen(const smr::ReplicaFigures& figures) {
  ReplicaBoard board;
  board.show(figures, seconds(1));
  return *board.latest();
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != text.npos;
}

}  // namespace

TEST_CASE("nothing is known of a replica before it has shown itself") {
  CHECK(ReplicaBoard().latest() == nullptr);
}

TEST_CASE("rates are those of the last seconds") {
  ReplicaBoard board;
  smr::ReplicaFigures figures = follower();
  for (int second = 0; second <= 60; ++second) {
    board.show(figures, seconds(second));
    figures.ordered += second < 50 ? 10 : 200;
    figures.reads += 3;
  }
  const auto latest = board.latest();
  CHECK(latest->rates.ordered == doctest::Approx(200));
  CHECK(latest->rates.reads == doctest::Approx(3));
  CHECK(latest->past.size() == 61);
  CHECK(latest->past.front().ordered == 0);
  for (int second = 61; second < 2'000; ++second) board.show(figures, seconds(second));
  CHECK(board.latest()->past.size() == 600);
  CHECK(board.latest()->rates.ordered == 0);
}

TEST_CASE("a member is behind what a quorum has come to") {
  smr::ReplicaFigures figures = follower();
  CHECK(seen(figures).behind(figures.members[0]) == 0);
  CHECK(seen(figures).behind(figures.members[2]) == 40);
  // One alone may lie.
  figures.members[0].newest = 1'000'000;
  CHECK(seen(figures).behind(figures.members[2]) == 40);
  CHECK(seen(figures).behind(figures.members[0]) == 0);
  // This replica itself is behind two others.
  figures.members[2].newest = 1'000'000;
  CHECK(seen(figures).behind(figures.members[1]) == 999'900);
  figures.members[2].newest = 0;
  CHECK(!seen(figures).behind(figures.members[2]));
}

TEST_CASE("a replica takes part that is a member, votes, and is connected to a quorum") {
  smr::ReplicaFigures figures = follower();
  CHECK(seen(figures).trouble().empty());
  figures.members[0].connected = false;
  CHECK(seen(figures).trouble().empty());
  figures.members[2].connected = false;
  CHECK(seen(figures).trouble() == "it is connected to 0 others, and 1 have to take part with it");
  figures = follower();
  figures.own.silent = true;
  CHECK(seen(figures).trouble().find("votes for nothing") != std::string::npos);
  figures.own.is_member = false;
  CHECK(seen(figures).trouble() == "it is no member of the group");
}

TEST_CASE("figures have the names that the reference promises") {
  const auto text = metrics(seen(follower()), "g", observe::MetricsFormat::prometheus);
  CHECK(has_line(text, "piracema_kv_takes_part 1"));
  CHECK(has_line(text, "piracema_kv_leads 0"));
  CHECK(has_line(text, "piracema_kv_leader_seconds 7"));
  CHECK(has_line(text, R"(piracema_kv_member_leads{member="0",address="a:1"} 1)"));
  CHECK(has_line(text, R"(piracema_kv_member_leads{member="1",address="b:1"} 0)"));
  CHECK(has_line(text, R"(piracema_kv_member_behind_instances{member="2",address="c:1"} 40)"));
  CHECK(has_line(text, R"(piracema_kv_operations_total{kind="ordered"} 1000)"));
  CHECK(has_line(text, R"(piracema_kv_operations_total{kind="read"} 50)"));
  CHECK(has_line(text, "piracema_kv_checkpoints_total 0"));
  CHECK(text.find("piracema_kv_last_checkpoint") == text.npos);
  smr::ReplicaFigures figures = follower();
  figures.checkpoints = 2;
  figures.checkpoint_took = milliseconds(500);
  figures.checkpoint_bytes = 77;
  const auto more = metrics(seen(figures), "g", observe::MetricsFormat::openmetrics);
  CHECK(has_line(more, "piracema_kv_last_checkpoint_duration_seconds 0.5"));
  CHECK(has_line(more, "piracema_kv_last_checkpoint_size_bytes 77"));
}
