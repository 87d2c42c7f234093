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

TEST_CASE("a worker that is stopped is replaced within 1.5 s, wherever it is in the stream") {
  const Stream stream;
  Job job(stream.run({"items=20000", "pause_us=200"}));
  for (const int slot : {0, 3}) {
    CAPTURE(slot);
    job.wait_for("snapshot");
    ::kill(job.worker(slot).pid, SIGSTOP);
    const Time stopped = now();
    const Event lost = job.wait_for("lost");
    const Time noticed = now();
    CHECK(lost["worker"] == slot);
    CHECK(is_in("no heartbeat", lost["how"]));
    // The bound, and what a busy machine may add.
    CHECK(noticed - stopped < std::chrono::milliseconds(1'500 + 300));
    job.wait_for("first_item_out");
  }
  CHECK(job.wait() == 0);
  CHECK(stream.is_right(20'000));
}

TEST_CASE("a worker that is stopped before it has joined is replaced as soon") {
  const Stream stream;
  Job job(stream.run({"items=9000", "pause_us=200", "stop-at-start"}));
  job.wait_for("snapshot");
  ::kill(job.worker(1).pid, SIGKILL);
  job.wait_for("lost");
  const Time begun = now();
  job.wait_for("lost");
  CHECK(now() - begun < std::chrono::milliseconds(1'500 + 300));
  CHECK(job.wait() == 0);
  CHECK(stream.is_right(9'000));
}

TEST_CASE("a busy machine raises no false alarm") {
  const Stream stream;
  const BusyMachine busy(4);
  Job job(stream.run({"items=12000", "pause_us=200"}));
  CHECK(job.wait() == 0);
  CHECK(job.summary()["recoveries"].empty());
  CHECK(stream.is_right(12'000));
}

TEST_CASE("a worker that is stopped for less than a second goes on as if nothing had been") {
  const Stream stream;
  Job job(stream.run({"items=8000", "pause_us=200"}));
  job.wait_for("snapshot");
  const pid_t pid = job.worker(1).pid;
  ::kill(pid, SIGSTOP);
  // No event tells of a pause: what is tested is that none does.
  const Time until = now() + std::chrono::milliseconds(600);
  while (now() < until) job.next_event(std::chrono::ceil<milliseconds>(until - now()));
  ::kill(pid, SIGCONT);
  CHECK(job.wait() == 0);
  CHECK(job.events("lost").empty());
  CHECK(stream.is_right(8'000));
}

TEST_CASE("a coordinator that was stopped itself takes nobody for lost") {
  const Stream stream;
  Job job(stream.run({"items=20000", "pause_us=200"}));
  job.wait_for("snapshot");
  job.signal(SIGSTOP);
  // Longer than any worker may be silent.
  ::poll(nullptr, 0, 2'000);
  job.signal(SIGCONT);
  CHECK(job.wait() == 0);
  CHECK(job.events("lost").empty());
  CHECK(stream.is_right(20'000));
}
