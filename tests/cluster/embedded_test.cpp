// The same program by itself: one process, no launcher.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>

#include "stream.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

struct Alone : Stream {
  std::vector<std::string> environment = {"PIRACEMA_SNAPSHOTS=" + snapshots};

  /// Waits until a snapshot is complete.
  void wait_for_snapshot(Job& job) const {
    job.go_on_until([&] { return exists(snapshots + "/000000000001/manifest.json"); });
  }

  /// How much is written of an output that is not whole yet.
  std::uintmax_t written() const { return std::filesystem::file_size(out + ".partial"); }
};

}  // namespace

TEST_CASE("a program by itself needs nothing, and leaves nothing but its output") {
  const Alone alone;
  Job job(alone.program({"items=3000"}));
  CHECK(job.wait() == 0);
  CHECK(job.errors() == "");
  CHECK_FALSE(exists(alone.snapshots));
  CHECK(lines_of(contents(alone.out)).size() == 3'000);
}

TEST_CASE("with $PIRACEMA_SNAPSHOTS an operator that throws is rolled back in place") {
  const Alone alone;
  Job job(
      alone.program({"items=3000", "pause_us=100", "every_ms=20", "fault=throw-once", "at=2000"}),
      alone.environment);
  CHECK(job.wait() == 0);
  CHECK(alone.is_right(3'000));
  CHECK(is_in("failed at item 1999: process: a bad day", job.errors()));
}

TEST_CASE("an operator that throws again and again ends the program with code 1 and a name") {
  for (const bool snapshots : {false, true}) {
    CAPTURE(snapshots);
    const Alone alone;
    Job job(alone.program({"items=3000", "pause_us=100", "every_ms=20", "fault=throw", "at=2000"}),
            snapshots ? alone.environment : std::vector<std::string>());
    CHECK(job.wait() == 1);
    CHECK(is_in("check/", job.errors()));
    CHECK(is_in("1999", job.errors()));
    CHECK(is_in("no half measures", job.errors()));
  }
}

TEST_CASE(
    "a program that calls exit(0) in the middle of its job does not end as if all were done") {
  const Alone alone;
  Job job(alone.program({"items=3000", "fault=exit", "at=2000"}));
  CHECK(job.wait() == 1);
  CHECK(is_in("the program called exit(0) in the middle of its job", job.errors()));
  CHECK_FALSE(exists(alone.out));
  CHECK(exists(alone.out + ".partial"));
}

TEST_CASE("Ctrl-C takes a snapshot, and RunOptions::resume goes on from it") {
  for (const int signal : {SIGINT, SIGTERM}) {
    CAPTURE(signal);
    const Alone alone;
    auto options = alone.endless();
    options.push_back("every_ms=50");
    {
      Job job(alone.program(options), alone.environment);
      alone.wait_for_snapshot(job);
      job.signal(signal);
      CHECK(job.wait() == 75);
      CHECK_FALSE(exists(alone.out));
    }
    {
      Job anew(alone.program(options), alone.environment);
      CHECK(anew.wait() == 3);
      CHECK(is_in("of a run that has not ended", anew.errors()));
    }
    auto resumed = options;
    resumed.push_back("resume");
    const auto before = alone.written();
    Job job(alone.program(resumed), alone.environment);
    job.go_on_until([&] { return alone.written() > before; });
    alone.let_end();
    CHECK(job.wait() == 0);
    CHECK(alone.is_right());
  }
}

TEST_CASE("a process that was killed is resumed, alone or as several") {
  const Alone alone;
  auto options = alone.endless();
  options.push_back("every_ms=50");
  {
    Job job(alone.program(options), alone.environment);
    alone.wait_for_snapshot(job);
    job.signal(SIGKILL);
    CHECK(job.wait() == -SIGKILL);
  }
  // What one process has saved, four can go on with: a snapshot does not say where replicas ran.
  Job job(alone.run(options, {"--resume"}));
  job.wait_for("first_item_out");
  alone.let_end();
  CHECK(job.wait() == 0);
  CHECK(alone.is_right());
}

TEST_CASE("two signals at once are one for a program by itself, too") {
  const Alone alone;
  auto options = alone.endless();
  options.push_back("every_ms=50");
  Job job(alone.program(options), alone.environment);
  alone.wait_for_snapshot(job);
  job.signal(SIGTERM);
  job.signal(SIGINT);
  CHECK(job.wait() == 75);
}

TEST_CASE("a source that reads what does not come, with the lock of its stream, keeps no stop") {
  const Alone alone;
  const std::string fifo = alone.path("fifo");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  Job job({OPERATORS_APP, alone.out, "items=10", "read=" + fifo}, alone.environment);
  alone.wait_for_snapshot(job);
  job.signal(SIGTERM);
  CHECK(job.wait() == 75);
  CHECK(is_in("stopped with snapshot", job.errors()));
}

TEST_CASE("a second Ctrl-C ends the program at once") {
  const Alone alone;
  Job job(alone.program({"items=6000", "every_ms=20", "pause_us=300", "fault=stick", "at=500"}),
          alone.environment);
  job.go_on_until([&] { return exists(alone.out + ".fault"); });
  job.signal(SIGINT);
  job.go_on_until([&] { return is_in("once more to end at once", job.errors()); });
  while (!job.processes().empty()) {
    job.signal(SIGINT);
    job.next_line(milliseconds(100));
  }
  CHECK(job.wait() == 130);
}
