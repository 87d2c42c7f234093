// Workers that stand still, and those that only seem to.
#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "stream.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

/// Processes that use all the time they get.
class BusyMachine {
 public:
  explicit BusyMachine(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t pid = ::fork();
      REQUIRE(pid >= 0);
      if (pid == 0) {
        while (true) {
          std::atomic_signal_fence(std::memory_order_seq_cst);
        }
      }
      pids_.push_back(pid);
    }
  }
  ~BusyMachine() {
    for (const pid_t pid : pids_) ::kill(pid, SIGKILL);
    for (const pid_t pid : pids_) ::waitpid(pid, nullptr, 0);
  }

 private:
  std::vector<pid_t> pids_;
};

}  // namespace

// How soon is said by what is told of it, and held to in virtual time (coordinator_losses_test).
TEST_CASE("a worker that is stopped is replaced for its silence, wherever it is in the stream") {
  const Stream stream;
  Job job(stream.run(stream.endless(200)));
  for (const int slot : {0, 3}) {
    CAPTURE(slot);
    job.wait_for("snapshot");
    ::kill(job.worker(slot).pid, SIGSTOP);
    const Event lost = job.wait_for("lost");
    CHECK(lost["worker"] == slot);
    CHECK(lost["how"] == "no heartbeat for 1250 ms");
    job.wait_for("first_item_out");
  }
  stream.let_end();
  CHECK(job.wait() == 0);
  CHECK(stream.is_right());
}

TEST_CASE("a worker that is stopped before it has joined is not waited for until it should have") {
  const Stream stream;
  auto options = stream.endless(200);
  options.push_back("stop-at-start");
  Job job(stream.run(options));
  job.wait_for("snapshot");
  ::kill(job.worker(1).pid, SIGKILL);
  job.wait_for("lost");
  const Event lost = job.wait_for("lost");
  CHECK(lost["worker"] == 1);
  // Else it is "it did not join within 30000 ms".
  CHECK(is_in("SIGKILL", lost["how"]));
  stream.let_end();
  CHECK(job.wait() == 0);
  CHECK(stream.is_right());
}

TEST_CASE("a busy machine raises no false alarm") {
  const Stream stream;
  const BusyMachine busy(4);
  Job job(stream.run({"items=12000", "pause_us=200"}));
  CHECK(job.wait() == 0);
  CHECK(job.summary()["recoveries"].empty());
  CHECK(stream.is_right(12'000));
}

TEST_CASE("a worker that is stopped for less than the timeout goes on as if nothing had been") {
  const Stream stream;
  // The timeout is 50 s, and several heartbeats are missed: the test may be late by much.
  Job job(stream.run(stream.endless(200), {"--heartbeat", "10s"}));
  job.wait_for("snapshot");
  const pid_t pid = job.worker(1).pid;
  ::kill(pid, SIGSTOP);
  // No event tells of a pause: what is tested is that none does.
  const Time until = now() + std::chrono::milliseconds(600);
  while (now() < until) job.next_event(std::chrono::ceil<milliseconds>(until - now()));
  ::kill(pid, SIGCONT);
  stream.let_end();
  CHECK(job.wait() == 0);
  CHECK(job.events("lost").empty());
  CHECK(stream.is_right());
}

TEST_CASE("a coordinator that was stopped itself takes nobody for lost") {
  const Stream stream;
  Job job(stream.run(stream.endless(200)));
  job.wait_for("snapshot");
  job.signal(SIGSTOP);
  // Longer than any worker may be silent.
  ::poll(nullptr, 0, 2'000);
  job.signal(SIGCONT);
  // By the second one all have been heard again.
  job.wait_for("snapshot");
  job.wait_for("snapshot");
  stream.let_end();
  CHECK(job.wait() == 0);
  CHECK(job.events("lost").empty());
  CHECK(stream.is_right());
}
