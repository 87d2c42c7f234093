#include "cluster/driver/launcher.h"

#include <doctest/doctest.h>

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/testing.h"

using namespace piracema;
using namespace piracema::cluster;

namespace {

constexpr std::chrono::seconds join_timeout{20};

/// A job of two processes whose coordinator starts them by a launcher.
struct Launching {
  net::Poller poller;
  JobOptions options;
  std::uint32_t started = 0;
  std::vector<Exit> exits;
  std::vector<Error> failures;
  std::vector<HostsOfJob> hosts;
  bool is_over = false;
  int asked_if_over = 0;
  Time time{};
  Crew crew{poller,
            {.exited = [this](const Exited&, const Exit& exit) { exits.push_back(exit); },
             .connection_lost = [](Crew::Id) {},
             .kill = {},
             .ask = {},
             .is_here = {}}};
  JobSnapshots snapshots{poller, {}};
  std::unique_ptr<Door> door = *Door::open(poller, std::string(32, 'a'), {});
  std::optional<Launcher> launcher;

  Launching() {
    options.command = {"a_program"};
    options.settings.slots = 2;
    options.settings.join_timeout = join_timeout;
  }
  Launcher& begin() {
    launcher.emplace(
        poller, options, crew,
        Launcher::Events{.failed = [this](const Error& why) { failures.push_back(why); },
                         .over = [](int, const std::string&) {},
                         .started = [this](std::uint32_t count) { started += count; },
                         .never_ran = [](Crew::Id, const std::string&) {},
                         .moves_wished = [](const std::vector<Slot>&, bool) {},
                         .hosts_change = [this](HostsOfJob now) { hosts.push_back(now); },
                         .still_coordinates = [] { return true; },
                         .is_over =
                             [this] {
                               asked_if_over += 1;
                               return is_over;
                             },
                         .time = [this] { return time; }});
    const Doorway doorway{door->address(), std::string(32, 'a'), ""};
    REQUIRE(launcher->begin(doorway, *door, JobMetadata(options.settings), snapshots, nullptr));
    return *launcher;
  }
  /// Processes that mpirun starts, which runs this in their place.
  Launcher& begin_world(const std::string& script) {
    options.transport = "mpi";
    options.mpirun = {"/bin/sh", "-c", script};
    return begin();
  }
  void wait_for_both() {
    while (exits.size() < 2) poller.run_once(std::chrono::seconds(10));
  }
};

}  // namespace

TEST_CASE("processes that come by themselves are expected, each once, and need no agents") {
  Launching job;
  job.options.settings.workers_come = true;
  Launcher& launcher = job.begin();
  CHECK(launcher.is_ready());
  CHECK(job.crew.expects({0, 0}));
  CHECK(job.crew.expects({1, 0}));
  CHECK_FALSE(job.crew.expects({2, 0}));
  CHECK(launcher.hosts().empty());
  CHECK(launcher.agent_joined({}, nullptr).error().code == Errc::refused);
}

TEST_CASE(
    "those that the coordinator before has started are expected, and no first one is waited for") {
  Launching job;
  job.options.settings.workers_come = true;
  Launcher& launcher = job.begin();
  JobMetadata left(job.options.settings);
  left.incarnations = {4, 7};
  launcher.take_over(left);
  CHECK(job.crew.expects({0, 4}));
  CHECK(job.crew.expects({1, 7}));
  CHECK(launcher.anybody_joined());
  CHECK_FALSE(launcher.joined());
}

TEST_CASE("the first process has its time to join, which an end from outside begins anew") {
  Launching job;
  job.options.settings.workers_come = true;
  Launcher& launcher = job.begin();
  launcher.wait_for_first(Time{});
  CHECK_FALSE(launcher.lateness(join_timeout - milliseconds(1)));
  const auto late = launcher.lateness(join_timeout);
  REQUIRE(late);
  CHECK(late->code == 3);
  CHECK(late->why == "'a_program' has not joined within 20.0 s: is it a Piracema program?");

  job.time = std::chrono::seconds(5);
  CHECK_FALSE(launcher.ended({.from_outside = true}));
  CHECK_FALSE(launcher.lateness(join_timeout));
  CHECK(launcher.lateness(join_timeout + std::chrono::seconds(5)));

  CHECK(launcher.joined());
  CHECK_FALSE(launcher.joined());
  CHECK_FALSE(launcher.lateness(2 * join_timeout));
}

TEST_CASE("a first process that leaves by itself ends the job, one that comes later does not") {
  Launching job;
  job.options.settings.workers_come = true;
  Launcher& launcher = job.begin();
  auto over = launcher.ended({.status = 1, .how = "exit code 1"});
  REQUIRE(over);
  CHECK(over->code == 3);
  CHECK(over->why == "'a_program' left without joining (exit code 1): is it a Piracema program?");
  // It has said itself what is wrong with its arguments.
  over = launcher.ended({.status = 2, .how = "exit code 2"});
  REQUIRE(over);
  CHECK(over->code == 2);
  CHECK(over->why == "'a_program' left without joining (exit code 2)");

  launcher.joined();
  CHECK_FALSE(launcher.ended({.status = 2, .how = "exit code 2"}));
}

TEST_CASE("one mpirun starts all processes once each of them is wanted") {
  Launching job;
  Launcher& launcher = job.begin_world("exit 7");
  launcher.start({0, 0});
  launcher.start({1, 0});
  CHECK(job.started == 2);
  CHECK_FALSE(launcher.need_not_start({1, 0}));
  job.wait_for_both();
  CHECK(job.exits[0].status == 7);
}

TEST_CASE("a process of a world that is wanted no more is not started") {
  Launching job;
  Launcher& launcher = job.begin_world("exit 0");
  launcher.start({0, 0});
  CHECK(launcher.need_not_start({0, 0}));
  CHECK_FALSE(launcher.need_not_start({0, 0}));
  launcher.start({1, 0});
  CHECK(job.started == 0);
  launcher.start({0, 1});
  CHECK(job.started == 2);
  job.wait_for_both();
}

TEST_CASE("a world does not start in a job that is over") {
  Launching job;
  Launcher& launcher = job.begin_world("exit 0");
  job.is_over = true;
  launcher.start({0, 0});
  launcher.start({1, 0});
  CHECK(job.started == 0);
  CHECK(job.crew.size() == 0);
}

TEST_CASE("a world whose mpirun is not there fails the job") {
  Launching job;
  job.options.transport = "mpi";
  job.options.mpirun = {"/no/such/mpirun"};
  Launcher& launcher = job.begin();
  launcher.start({0, 0});
  launcher.start({1, 0});
  CHECK(job.failures.size() == 1);
}

TEST_CASE("hosts that are listed before the job begins are told when it does") {
  const testing::ScratchDirectory scratch;
  Launching job;
  job.options.hosts = {{.name = "h", .address = "127.0.0.1", .here = true}};
  job.options.host_of_slot = {0, 0};
  job.options.command = {"/bin/true"};
  job.options.agent = "/bin/true";
  job.options.watched_hostfile = scratch.path() + "/hosts";
  std::ofstream(job.options.watched_hostfile) << "h\n";
  Launcher& launcher = job.begin();
  while (job.asked_if_over == 0) job.poller.run_once(std::chrono::seconds(10));
  CHECK(job.hosts.empty());
  launcher.job_begins();
  REQUIRE(job.hosts.size() == 1);
  CHECK(job.hosts[0].hosts.size() == 1);
  CHECK(job.hosts[0].home_of_slot == std::vector<std::uint32_t>{0, 0});
}
