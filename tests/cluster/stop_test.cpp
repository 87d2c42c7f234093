// Ctrl-C, SIGTERM, and the death of the coordinator.
#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>

#include "stream.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

void check_resumed(const Stream& stream) {
  Job job(stream.run(stream.endless(), {"--resume"}));
  job.wait_for("first_item_out");
  stream.let_end();
  CHECK(job.wait() == 0);
  CHECK(stream.is_right());
  CHECK(job.summary()["items"] > 0);
  // Some were done before.
  CHECK(job.summary()["items"] < lines_of(contents(stream.out)).size());
}

/// Whether all of these end.
bool all_end(const std::vector<Fd>& processes) {
  const Time until = now() + patience;
  for (const Fd& process : processes) {
    const auto left = std::chrono::ceil<milliseconds>(std::max(until - now(), Time{}));
    pollfd ended{.fd = process.get(), .events = POLLIN, .revents = 0};
    if (::poll(&ended, 1, static_cast<int>(left.count())) != 1) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("Ctrl-C and SIGTERM stop a job with a snapshot, and it goes on from there") {
  for (const int signal : {SIGINT, SIGTERM}) {
    CAPTURE(signal);
    const Stream stream;
    Job job(stream.run(stream.endless()));
    job.wait_for("snapshot");
    job.signal(signal);
    CHECK(job.wait() == 75);
    CHECK(job.processes().empty());
    CHECK_FALSE(exists(stream.out));
    CHECK(exists(stream.out + ".partial"));
    check_resumed(stream);
  }
}

TEST_CASE("a job that is stopped again and again loses nothing") {
  const Stream stream;
  {
    Job job(stream.run(stream.endless()));
    // An item may come out before all have begun; stopped so early there is nothing to keep.
    job.wait_for("running");
    job.signal(SIGINT);
    REQUIRE(job.wait() == 75);
  }
  for (int i = 0; i < 4; ++i) {
    Job job(stream.run(stream.endless(), {"--resume"}));
    job.wait_for(i % 2 == 0 ? "snapshot" : "running");
    job.signal(SIGTERM);
    CHECK(job.wait() == 75);
  }
  check_resumed(stream);
}

TEST_CASE("a second signal ends a job at once, with the code of that signal") {
  struct Case {
    int first, second, code;
  };
  for (const Case& one : {Case{SIGINT, SIGINT, 130}, Case{SIGTERM, SIGTERM, 143},
                          Case{SIGINT, SIGTERM, 143}, Case{SIGTERM, SIGINT, 130}}) {
    CAPTURE(one.first);
    CAPTURE(one.second);
    const Stream stream;
    // An operator that does not return: no barrier gets past it.
    Job job(stream.run({"items=9000", "pause_us=300", "fault=stick", "at=500"}));
    job.go_on_until([&] { return exists(stream.out + ".fault"); });
    job.signal(one.first);
    job.wait_for("stopping");
    // Within half a second it is the same one; some time after that it is the second one. Those
    // that come while the job ends change nothing.
    while (!job.processes().empty()) {
      job.signal(one.second);
      job.next_event(milliseconds(1));
    }
    // Nobody waits for the last snapshot, which does not come.
    CHECK(job.wait() == one.code);
    CHECK(job.events("snapshot_failed").empty());
    CHECK(job.processes().empty());
  }
}

TEST_CASE("two signals at once are one: the snapshot is taken") {
  const Stream stream;
  Job job(stream.run(stream.endless()));
  job.wait_for("snapshot");
  // The kernel keeps two of a kind as one, but not these.
  job.signal(SIGTERM);
  job.signal(SIGINT);
  CHECK(job.wait() == 75);
  CHECK(job.events("stopping").size() == 1);
  check_resumed(stream);
}

TEST_CASE("a signal before anything has run ends the job") {
  const Stream stream;
  Job job(stream.run(stream.endless()));
  job.signal(SIGTERM);
  // The signal may come before the command has asked to be told of it.
  const int code = job.wait();
  CHECK((code == -SIGTERM || code == 143 || code == 75));
  CHECK(job.processes().empty());
}

TEST_CASE("workers end with their coordinator, and the job goes on later") {
  const Stream stream;
  // Nobody would miss a heartbeat before the test has lost its patience.
  Job job(stream.run(stream.endless(), {"--heartbeat", "60s"}));
  job.wait_for("snapshot");
  std::vector<Fd> workers;
  for (const Worker& worker : job.workers()) workers.push_back(pidfd_of(worker.pid));
  REQUIRE(workers.size() == 4);
  job.signal(SIGKILL);
  CHECK(all_end(workers));
  CHECK(job.wait() == -SIGKILL);
  CHECK(job.processes().empty());
  check_resumed(stream);
}

TEST_CASE("a stop while a worker is being replaced loses nothing") {
  const Stream stream;
  Job job(stream.run(stream.endless()));
  job.wait_for("snapshot");
  ::kill(job.worker(2).pid, SIGKILL);
  job.wait_for("lost");
  job.signal(SIGINT);
  CHECK(job.wait() == 75);
  CHECK(job.processes().empty());
  check_resumed(stream);
}
