#include "council/seat_watch.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::council;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// Three coordinators, of which the first leads and looks four times a second.
struct WatchedGroup {
  Standing standing;
  SeatWatch watch{0};
  Time now = seconds(100);
  std::set<std::string> left;

  WatchedGroup() {
    for (std::uint32_t id = 0; id < 3; ++id) standing.members.push_back({id, "", "", ""});
    standing.heard.resize(3);
    standing.next_id = 3;
    watch.look(now, standing, left);
  }
  /// Looks until a seat is to be given to another one; nothing after `most`.
  std::optional<std::size_t> look_for(Time most, std::vector<std::size_t> who_speaks = {}) {
    for (const Time until = now + most; now < until;) {
      now += milliseconds(250);
      for (const std::size_t seat : who_speaks) standing.heard[seat] += 1;
      if (const auto due = watch.look(now, standing, left)) return due->seat;
    }
    return std::nullopt;
  }
};

/// On hosts 1 to 3 of five.
struct GroupOnHosts : WatchedGroup {
  GroupOnHosts() {
    for (Member& member : standing.members) {
      member.replica = "10.0.0." + std::to_string(member.id + 1) + ":1";
    }
    for (int host = 1; host <= 5; ++host) {
      const std::string number = std::to_string(host);
      standing.hosts.push_back({"h" + number, "10.0.0." + number});
    }
  }
  std::optional<SeatWatch::Due> look() {
    now += milliseconds(250);
    return watch.look(now, standing, left);
  }
  void leave(std::size_t host, bool left_by_workers = true) {
    standing.hosts[host].wanted = false;
    if (left_by_workers) left.insert(standing.hosts[host].address);
  }
  void take(std::size_t seat, int host) {
    standing.members[seat] = {standing.next_id++, "10.0.0." + std::to_string(host) + ":1", "", ""};
  }
};

}  // namespace

TEST_CASE(
    "one on a machine that the job has left is replaced at once, and the one that leads last") {
  GroupOnHosts group;
  CHECK_FALSE(group.look());
  group.leave(0), group.leave(2);
  CHECK(group.look() == SeatWatch::Due{2, true});
  group.take(2, 4);
  CHECK(group.look() == SeatWatch::Due{0, true});
  group.take(0, 5);
  CHECK_FALSE(group.look());
}

TEST_CASE("one stays on a machine that the job leaves as long as anything else of the job does") {
  GroupOnHosts group;
  group.leave(1, false);
  CHECK_FALSE(group.look());
  group.leave(1);
  CHECK(group.look() == SeatWatch::Due{1, true});
}

TEST_CASE("one stays on a machine that the job leaves while there is no other one for it") {
  GroupOnHosts group;
  group.standing.hosts.resize(3);
  group.leave(1);
  CHECK_FALSE(group.look());
  group.standing.hosts.push_back({"h4", "10.0.0.4"});
  CHECK(group.look() == SeatWatch::Due{1, true});
}

TEST_CASE("a machine that the job has by another name is not left") {
  GroupOnHosts group;
  group.leave(1);
  group.standing.hosts.push_back({"two", "10.0.0.2"});
  CHECK_FALSE(group.look());
}

TEST_CASE("one that cannot be replaced on the machine that is left is tried again after a pause") {
  GroupOnHosts group;
  group.leave(1);
  REQUIRE(group.look() == SeatWatch::Due{1, true});
  group.watch.failed(group.now, 1);
  CHECK_FALSE(group.look());
  CHECK(group.look_for(2 * SeatWatch::pause_min, {0, 1, 2}) == 1);
}

TEST_CASE("one that is silent for too long is to be replaced, and not before") {
  WatchedGroup group;
  CHECK_FALSE(group.look_for(SeatWatch::silent_max - milliseconds(250), {2}));
  CHECK(group.look_for(milliseconds(250), {2}) == 1);
}

TEST_CASE("who speaks now and then is not silent, and who leads never is") {
  WatchedGroup group;
  CHECK_FALSE(group.look_for(seconds(60), {1, 2}));
  for (int round = 0; round < 10; ++round) {
    CHECK_FALSE(group.look_for(SeatWatch::silent_max - milliseconds(500), {1}));
    group.standing.heard[2] += 1;
    CHECK_FALSE(group.look_for(milliseconds(250), {1}));
  }
}

TEST_CASE("a leader that was stopped itself does not blame others for it") {
  WatchedGroup group;
  group.look_for(seconds(5), {1});
  group.now += seconds(60);
  CHECK_FALSE(group.watch.look(group.now, group.standing, {}));
  CHECK(group.look_for(seconds(20)) == 2);
}

TEST_CASE("of several the one that was silent the longest goes first") {
  WatchedGroup group;
  group.look_for(seconds(2), {1});
  CHECK(group.look_for(seconds(60)) == 2);
  group.standing.members[2].id = group.standing.next_id++;
  group.standing.heard[2] = 0;
  CHECK(group.look_for(seconds(60)) == 1);
}

TEST_CASE("one that takes a seat has as long as the one before to be heard of") {
  WatchedGroup group;
  REQUIRE(group.look_for(seconds(60), {1}) == 2);
  group.standing.members[2].id = group.standing.next_id++;
  CHECK_FALSE(group.look_for(SeatWatch::silent_max, {1}));
  CHECK(group.look_for(seconds(1), {1}) == 2);
}

TEST_CASE("successors that are never heard of come at longer and longer intervals") {
  WatchedGroup group;
  const auto next = [&] {
    group.standing.members[2].id = group.standing.next_id++;
    group.watch.failed(group.now, 2);
    const Time before = group.now;
    CHECK(group.look_for(2 * SeatWatch::pause_max, {1}) == 2);
    return group.now - before;
  };
  REQUIRE(group.look_for(seconds(60), {1}) == 2);
  CHECK(next() < seconds(11));
  CHECK(next() > seconds(19));
  CHECK(next() > seconds(39));
  // One that is heard of begins anew.
  group.standing.heard[2] += 1;
  CHECK_FALSE(group.look_for(SeatWatch::silent_max, {1}));
  REQUIRE(group.look_for(seconds(1), {1}) == 2);
  CHECK(next() < seconds(11));
}

TEST_CASE("what fails is tried again after pauses that grow and end at a most") {
  WatchedGroup group;
  Time last{};
  Time pause{};
  for (int round = 0; round < 12; ++round) {
    REQUIRE(group.look_for(2 * SeatWatch::pause_max, {1}) == 2);
    if (round > 0) {
      CHECK(group.now - last >= std::min<Time>(pause, SeatWatch::pause_max));
      CHECK(group.now - last <= SeatWatch::pause_max + seconds(1));
      pause = group.now - last;
    }
    if (round > 6) CHECK(pause >= SeatWatch::pause_max);
    last = group.now;
    group.watch.failed(group.now, 2);
  }
}
