#include "cluster/driver/driver.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <utility>

#include "base/testing.h"

using namespace piracema;
using namespace piracema::cluster;

namespace {

constexpr int items = 3'000;

struct Observer : JobObserver {
  void progressed(Time, const JobReport& report) override {
    if (on_progress && report.read > 0.05) std::exchange(on_progress, nullptr)();
  }
  std::function<void()> on_progress;
};

struct Run {
  testing::ScratchDirectory scratch;
  std::string out = scratch.path() + "/out";
  Observer observer;
  JobOptions options;

  explicit Run(std::string how = "") {
    options.command = {DRIVER_TEST_APP, out, std::to_string(items), std::move(how)};
    options.agent = DRIVER_TEST_APP;
    options.settings.slots = 3;
    options.settings.snapshot_interval = milliseconds(20);
    // Progress is told with each heartbeat, and the job is short.
    options.settings.heartbeat_interval = milliseconds(20);
  }
  void take_snapshots() { options.snapshots = scratch.path() + "/snapshots"; }
  JobReport operator()() { return run_job(options, observer); }

  /// The output is every number once, in order.
  bool is_complete() const {
    std::ostringstream text;
    text << std::ifstream(out).rdbuf();
    std::string wanted;
    for (int i = 1; i <= items; ++i) wanted += std::to_string(i) + "\n";
    return text.str() == wanted;
  }
};

}  // namespace

TEST_CASE("a job of three processes writes what it should, and says what it did") {
  Run run;
  const JobReport report = run();

  CHECK(report.code == 0);
  CHECK(report.why == "");
  CHECK(run.is_complete());
  CHECK(report.items == items);
  CHECK(report.read == 1);
  REQUIRE(report.nodes.size() == 3);
  CHECK(report.nodes[1].items_in == items);
  CHECK(report.nodes[2].items_in == items);
  CHECK(report.processes_started == 3);
  CHECK(report.cpu > Time{});
  CHECK(report.peak_bytes > 0);
}

TEST_CASE("a process that is killed is replaced, and nothing is lost or doubled") {
  Run run;
  run.take_snapshots();
  run.options.kills = {{.node = "work", .replica = 1, .at = 0.3},
                       {.node = "lines", .replica = 0, .at = 0.6}};
  const JobReport report = run();

  CHECK(report.code == 0);
  CHECK(run.is_complete());
  CHECK(report.items > items / 2);
  CHECK(report.processes_started == 5);
  REQUIRE(report.recoveries.size() == 2);
  CHECK(report.recoveries[0].causes.front().find("killed by signal 9 (SIGKILL)") !=
        std::string::npos);
  for (const KillReport& kill : report.kills) {
    REQUIRE(kill.noticed_at.has_value());
    REQUIRE(kill.first_out_at.has_value());
    CHECK(*kill.killed_at <= *kill.noticed_at);
    CHECK(*kill.noticed_at < *kill.first_out_at);
  }
}

TEST_CASE("a process that stands still is replaced") {
  Run run("freeze");
  run.take_snapshots();
  run.options.settings.heartbeat_timeout = milliseconds(1'000);
  const JobReport report = run();

  CHECK(report.code == 0);
  CHECK(run.is_complete());
  REQUIRE(report.recoveries.size() >= 1);
  CHECK(report.recoveries[0].causes.front().find("heartbeat") != std::string::npos);
}

TEST_CASE("without snapshots a loss ends the job with code 4 and a name") {
  Run run;
  run.options.kills = {{.node = "work", .replica = 2, .at = 0.3}};
  const JobReport report = run();

  CHECK(report.code == 4);
  CHECK(report.why.find("work/2") != std::string::npos);
  CHECK(report.why.find("SIGKILL") != std::string::npos);
}

TEST_CASE("an operator that throws ends the job by its restart budget, with its name and item") {
  Run run("throw");
  run.take_snapshots();
  const JobReport report = run();

  CHECK(report.code == 1);
  CHECK(report.why.find("work") != std::string::npos);
  CHECK(report.why.find("no half measures") != std::string::npos);
}

TEST_CASE("a signal stops the job with a last snapshot, from which it is resumed") {
  Run run("slow");
  run.take_snapshots();
  run.observer.on_progress = [] { ::kill(::getpid(), SIGTERM); };
  const JobReport stopped = run();
  CHECK(stopped.code == 75);
  CHECK_FALSE(run.is_complete());

  run.options.command.back() = "";
  SUBCASE("resumed") {
    run.options.resume = true;
    const JobReport resumed = run();
    CHECK(resumed.code == 0);
    CHECK(run.is_complete());
    CHECK(resumed.items < items);

    const JobReport again = run();
    CHECK(again.code == 0);
    CHECK(again.why.find("nothing to resume") != std::string::npos);
  }
  SUBCASE("forgotten") {
    const JobReport anew = run();
    CHECK(anew.code == 3);
    CHECK(anew.why.find("--resume") != std::string::npos);
  }
  SUBCASE("resumed by another program") {
    run.options.resume = true;
    run.options.command = {DRIVER_TEST_OTHER_APP};
    const JobReport other = run();
    CHECK(other.code == 3);
    INFO(other.why);
    CHECK(other.why.find("another program") != std::string::npos);
    CHECK(other.why.find("numbers > work x3 > lines (ordered)") != std::string::npos);
  }
}

TEST_CASE("two signals at once are one") {
  Run run("slow");
  run.take_snapshots();
  run.observer.on_progress = [] {
    ::kill(::getpid(), SIGTERM);
    ::kill(::getpid(), SIGINT);
  };
  CHECK(run().code == 75);
}

TEST_CASE("a program that is none of ours is run once, and refused") {
  Run run;
  run.options.command = {"/bin/true"};
  JobReport report = run();
  CHECK(report.code == 3);
  CHECK(report.why ==
        "'/bin/true' left without joining (ended with status 0): is it a Piracema program?");
  CHECK(report.processes_started == 1);

  run.options.command = {"/bin/sleep", "1000"};
  run.options.settings.join_timeout = milliseconds(200);
  report = run();
  CHECK(report.code == 3);
  INFO(report.why);
  CHECK(report.why.find("has not joined within 200 ms") != std::string::npos);
}

TEST_CASE("a kill of what does not exist is refused, and so are settings that make no sense") {
  Run run;
  run.options.kills = {{.node = "nobody"}};
  JobReport report = run();
  CHECK(report.code == 3);
  CHECK(report.why.find("numbers (1), work (3), lines (1)") != std::string::npos);

  run.options.kills.clear();
  run.options.settings.slots = 0;
  report = run();
  CHECK(report.code == 3);
  CHECK(report.why.find("found 0") != std::string::npos);

  run.options.settings.slots = 1;
  run.options.resume = true;
  CHECK(run().code == 3);
  run.take_snapshots();
  CHECK(run().code == 3);
}
