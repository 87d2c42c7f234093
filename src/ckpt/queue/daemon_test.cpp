#include "ckpt/queue/daemon.h"

#include <doctest/doctest.h>

namespace piracema::ckpt {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

struct Host {
  explicit Host(DaemonSettings settings = {}) : daemon(settings) {}
  void tell(const DaemonEvent& event, Time at = {}) {
    time = std::max(time, at);
    actions = daemon.step(time, event);
  }
  template <class Action>
  const Action* find() const {
    for (const auto& action : actions) {
      if (const auto* found = std::get_if<Action>(&action)) return found;
    }
    return nullptr;
  }

  Time time{};
  Daemon daemon;
  std::vector<DaemonAction> actions;
};

}  // namespace

TEST_CASE("a job of the queue is started when the window opens, and told when it closes") {
  Host host;
  host.tell(QueueSeen{{"1", "2"}});
  CHECK(host.actions.empty());
  host.tell(LentUntil{hours(10)}, hours(1));
  REQUIRE(host.find<StartJob>() != nullptr);
  CHECK(host.find<StartJob>()->job == "1");
  CHECK(host.find<StartJob>()->closes == hours(10));
  CHECK(host.actions.size() == 1);
  host.tell(JobLeft{"1", Outcome::ended});
  REQUIRE(host.find<StartJob>() != nullptr);
  CHECK(host.find<StartJob>()->job == "2");
}

TEST_CASE("a job that is still there when the window closes is killed") {
  Host host;
  host.tell(LentUntil{hours(10)});
  host.tell(QueueSeen{{"1"}});
  CHECK(host.daemon.wake() == hours(10));
  host.tell(DaemonTick{}, hours(10));
  CHECK(host.find<KillJob>() != nullptr);
  host.tell(JobLeft{"1", Outcome::stopped});
  CHECK(host.actions.empty());
  host.tell(LentUntil{hours(34)}, hours(24));
  CHECK(host.find<StartJob>() != nullptr);
}

TEST_CASE("a job that has left a window is not begun again in what is left of it") {
  Host host;
  host.tell(LentUntil{hours(10)});
  host.tell(QueueSeen{{"1"}});
  REQUIRE(host.find<StartJob>() != nullptr);
  host.tell(JobLeft{"1", Outcome::stopped}, hours(10) - seconds(20));
  CHECK(host.actions.empty());
  CHECK_FALSE(host.daemon.wake());
  // The same close, by a clock in seconds.
  host.tell(LentUntil{hours(10) + seconds(1)}, hours(10) - seconds(10));
  CHECK(host.actions.empty());
  // Another job may use the rest.
  host.tell(QueueSeen{{"1", "2"}});
  REQUIRE(host.find<StartJob>() != nullptr);
  CHECK(host.find<StartJob>()->job == "2");
  host.tell(JobLeft{"2", Outcome::ended});
  host.tell(LentUntil{hours(34)}, hours(24));
  REQUIRE(host.find<StartJob>() != nullptr);
  CHECK(host.find<StartJob>()->job == "1");
}

TEST_CASE("a window that turns out to be longer is gone on with") {
  Host host;
  host.tell(LentUntil{hours(10)});
  host.tell(QueueSeen{{"1"}});
  host.tell(JobLeft{"1", Outcome::stopped}, hours(10) - seconds(20));
  host.tell(LentUntil{hours(20)});
  CHECK(host.find<StartJob>() != nullptr);
}

TEST_CASE("a job that was sent away by a user, or whose keeper was killed, goes on in its window") {
  Host host({.lending = {.idle = minutes(10)}});
  host.tell(LentUntil{hours(10)});
  host.tell(UserSeen{false});
  host.tell(QueueSeen{{"1"}});
  host.tell(JobLeft{"1", Outcome::died}, hours(1));
  CHECK(host.find<StartJob>() != nullptr);
  host.tell(UserSeen{true}, hours(2));
  host.tell(JobLeft{"1", Outcome::stopped}, hours(2) + seconds(1));
  host.tell(UserSeen{false}, hours(3));
  host.tell(DaemonTick{}, hours(3) + minutes(10));
  CHECK(host.find<StartJob>() != nullptr);
}

TEST_CASE(
    "a job that does not know of the close is asked to leave in time, and killed ahead of it") {
  Host host;
  host.tell(LentUntil{hours(10)});
  host.tell(QueueSeen{{"1"}});
  host.tell(LeavingTakes{"1", seconds(30), seconds(2)});
  CHECK(host.daemon.wake() == hours(10) - seconds(30));
  host.tell(DaemonTick{}, hours(10) - seconds(31));
  CHECK(host.actions.empty());
  host.tell(DaemonTick{}, hours(10) - seconds(30));
  REQUIRE(host.find<LeaveJob>() != nullptr);
  CHECK(host.find<LeaveJob>()->by == hours(10));
  // Once.
  host.tell(LeavingTakes{"1", seconds(40), seconds(2)});
  CHECK(host.actions.empty());
  CHECK(host.daemon.wake() == hours(10) - seconds(2));
  host.tell(DaemonTick{}, hours(10) - seconds(2));
  CHECK(host.find<KillJob>() != nullptr);
  host.tell(JobLeft{"1", Outcome::died}, hours(10) - seconds(1));
  CHECK(host.actions.empty());
}

TEST_CASE("a job that was asked as the close is near leaves sooner for a user who comes back") {
  Host host({.lending = {.grace = seconds(5)}});
  host.tell(LentUntil{hours(10)});
  host.tell(UserSeen{false});
  host.tell(QueueSeen{{"1"}});
  host.tell(LeavingTakes{"1", seconds(30), seconds(2)});
  host.tell(DaemonTick{}, hours(10) - seconds(30));
  host.tell(UserSeen{true}, hours(10) - seconds(29));
  CHECK(host.daemon.wake() == hours(10) - seconds(29) + seconds(5) - seconds(2));
}

TEST_CASE(
    "a user who comes back has the machine within the grace, whatever his job's keeper does") {
  Host host({.lending = {.grace = seconds(20)}});
  host.tell(LentUntil{hours(10)});
  host.tell(UserSeen{false});
  host.tell(QueueSeen{{"1"}});
  REQUIRE(host.find<StartJob>() != nullptr);
  host.tell(UserSeen{true}, hours(2));
  REQUIRE(host.find<LeaveJob>() != nullptr);
  CHECK(host.find<LeaveJob>()->by == hours(2) + seconds(20));
  // Asked once.
  host.tell(UserSeen{true}, hours(2) + seconds(1));
  CHECK(host.actions.empty());
  host.tell(DaemonTick{}, hours(2) + seconds(20));
  CHECK(host.find<KillJob>() != nullptr);
}

TEST_CASE("a machine is not taken again before its user has been away for long enough") {
  Host host({.lending = {.idle = minutes(10)}});
  host.tell(LentUntil{hours(10)});
  host.tell(UserSeen{true});
  host.tell(QueueSeen{{"1"}});
  CHECK(host.actions.empty());
  host.tell(UserSeen{false}, hours(1));
  CHECK(host.actions.empty());
  CHECK(host.daemon.wake() == hours(1) + minutes(10));
  host.tell(UserSeen{false}, hours(1) + minutes(9));
  CHECK(host.actions.empty());
  host.tell(DaemonTick{}, hours(1) + minutes(10));
  CHECK(host.find<StartJob>() != nullptr);
}

TEST_CASE("an idle machine is lent without a window if that is wanted, and has no close then") {
  Host host({.lending = {.idle = minutes(10), .when_idle = true}});
  host.tell(QueueSeen{{"1"}});
  host.tell(UserSeen{false}, minutes(1));
  CHECK(host.actions.empty());
  host.tell(DaemonTick{}, minutes(11));
  REQUIRE(host.find<StartJob>() != nullptr);
  CHECK_FALSE(host.find<StartJob>()->closes);
  Host other({.lending = {.idle = minutes(10)}});
  other.tell(QueueSeen{{"1"}});
  other.tell(UserSeen{false});
  other.tell(DaemonTick{}, hours(5));
  CHECK(other.actions.empty());
}

TEST_CASE("a job that another host has, or that cannot be begun, does not keep others waiting") {
  Host host({.retry = seconds(15)});
  host.tell(LentUntil{hours(10)});
  host.tell(QueueSeen{{"1", "2"}});
  host.tell(JobLeft{"1", Outcome::failed});
  REQUIRE(host.find<StartJob>() != nullptr);
  CHECK(host.find<StartJob>()->job == "2");
  host.tell(JobLeft{"2", Outcome::failed}, seconds(5));
  CHECK(host.actions.empty());
  CHECK(host.daemon.wake() == seconds(15));
  host.tell(DaemonTick{}, seconds(15));
  REQUIRE(host.find<StartJob>() != nullptr);
  CHECK(host.find<StartJob>()->job == "1");
  host.tell(JobLeft{"1", Outcome::failed}, seconds(20));
  CHECK(host.find<StartJob>()->job == "2");
  host.tell(JobLeft{"2", Outcome::failed}, seconds(21));
  CHECK(host.daemon.wake() == seconds(20 + 30));
}

}  // namespace piracema::ckpt
