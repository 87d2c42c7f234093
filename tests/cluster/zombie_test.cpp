// Workers that were taken for dead, could not be ended, and come back.
#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/text.h"
#include "cluster/driver/driver.h"
#include "stream.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

/// Freezes the worker of a slot once a snapshot is there, and lets it go on when the job has gone
/// on without it; the job, when that worker has left.
class Freezer : public cluster::JobObserver {
 public:
  Freezer(int slot, std::string mark, const Stream& stream)
      : slot_(slot), mark_(std::move(mark)), stream_(stream) {}

  void noted(Time, const cluster::Note& note) override {
    if (std::holds_alternative<cluster::SnapshotTaken>(note) && !frozen_) freeze();
    if (std::holds_alternative<cluster::Lost>(note)) losses += 1;
    if (std::holds_alternative<cluster::FirstItemOut>(note) && losses == 1 && !woken_) wake();
  }

  /// It ended by itself, while the job was still going on.
  bool has_left() const {
    pollfd ended{.fd = frozen_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&ended, 1, 0) == 1;
  }
  void progressed(Time, const cluster::JobReport&) override {
    if (!woken_ || left_during_job) return;
    left_during_job = has_left();
    if (left_during_job || now() > woken_at_ + patience) stream_.let_end();
  }

  int losses = 0;
  bool left_during_job = false;

 private:
  void freeze() {
    for (const Worker& worker : workers_of(mark_)) {
      if (worker.slot == slot_) pid_ = worker.pid;
    }
    frozen_ = pidfd_of(pid_);
    ::kill(pid_, SIGSTOP);
  }
  void wake() {
    woken_ = true;
    woken_at_ = now();
    ::kill(pid_, SIGCONT);
  }

  const int slot_;
  const std::string mark_;
  const Stream& stream_;
  pid_t pid_ = 0;
  Fd frozen_;
  bool woken_ = false;
  Time woken_at_{};
};

}  // namespace

TEST_CASE("a worker that wakes after it was replaced is told so and ends, and leaves no trace") {
  // In the order of the slots: with the source, with farms only, with the sink.
  for (const int slot : {0, 1, 2, 3}) {
    CAPTURE(slot);
    const Stream stream;
    const std::string mark = concat("zombie-", ::getpid(), "-", slot);
    ::setenv("PIRACEMA_TEST_JOB", mark.c_str(), 1);
    cluster::JobOptions options;
    options.command = stream.program(stream.endless(200));
    options.agent = PIRACEMA_COMMAND;
    options.settings.slots = 4;
    options.settings.snapshot_interval = milliseconds(50);
    options.snapshots = stream.snapshots;
    options.cannot_end_processes = true;
    Freezer freezer(slot, mark, stream);
    const cluster::JobReport report = cluster::run_job(options, freezer);
    ::unsetenv("PIRACEMA_TEST_JOB");

    CHECK(report.code == 0);
    CHECK(report.why == "");
    CHECK(freezer.losses == 1);
    CHECK(freezer.left_during_job);
    CHECK(stream.is_right());
  }
}
